import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tlsOptions } from '../../src/tls/tls.ts'
import { handleRequests } from './child.ts'

/** The fixed response of a bare `node:http` server: the limit of HTTP in one process. */
export interface FixedResponse {
  headers: Record<string, string>
  body: string
  certificate: { cert: string; key: string }
}

/** Ports of the server, without and with TLS. */
export interface Ports {
  plain: number
  tls: number
}

let fixed: { headers: FixedResponse['headers']; body: Buffer } | undefined
let ports: Promise<Ports> | undefined

handleRequests(({ headers, body, certificate }: FixedResponse) => {
  fixed = { headers, body: Buffer.from(body) }
  ports ??= listen(certificate)
  return ports
})

async function listen(certificate: FixedResponse['certificate']): Promise<Ports> {
  const respond: Parameters<typeof createServer>[1] = (_, response) =>
    response.writeHead(200, fixed?.headers).end(fixed?.body)
  const [plain = 0, tls = 0] = await Promise.all(
    [createServer(respond), createTlsServer({ ...tlsOptions, ...certificate }, respond)].map(
      server =>
        new Promise<number>(resolve => {
          server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
        }),
    ),
  )
  return { plain, tls }
}
