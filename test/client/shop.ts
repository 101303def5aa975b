import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type Connection, type Tillbridge, tillbridge } from '../../client/src/index.ts'
import { ensureLocalFiles } from '../../src/tls/local-ca.ts'
import type { Caller, TestApi } from '../support/service.ts'

export const toApiKey = ({ username, password }: Caller) => Buffer.from(`${username}:${password}`).toString('base64')

/** Makes the runtime's `fetch`, which clients use, trust a certificate authority. */
export const trustCertificate = (ca: string) => setDefaultCACertificates([...getCACertificates('default'), ca])

export function createClient(api: TestApi, caller: Caller = api, options: Partial<Connection> = {}): Tillbridge {
  trustCertificate(api.ca)
  return tillbridge({ url: api.baseUrl, apiKey: toApiKey(caller), service: caller.service.name, ...options })
}

/** A proxy between client and service that forwards everything by default. */
export interface Network {
  url: string
  /** The certificate authority of the proxy, as PEM. */
  ca: string
  /** Loses the next `count` responses: closes the client's connection after the server has responded. */
  loseResponses(count: number): void
  /** Closes the connection within the body of `count` responses, after the lost ones. */
  cutResponses(count: number): void
  /** Redirects requests to another server. */
  redirectTo(baseUrl: string): void
}

export async function startNetwork(target: string): Promise<Network> {
  let baseUrl = target
  let lossCount = 0
  let cutCount = 0
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-network-'))
  const { certFile, keyFile, caFile } = ensureLocalFiles(directory)
  const ca = readFileSync(caFile, 'utf8')
  trustCertificate(ca)
  const certificate = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  const server = createServer(certificate, async (incoming, outgoing) => {
    const serverRequest = request(baseUrl + incoming.url, {
      method: incoming.method,
      headers: incoming.headers,
      agent: false,
    })
    serverRequest.on('error', () => incoming.socket.destroy())
    serverRequest.on('response', async response => {
      const bytes = await buffer(response)
      if (lossCount > 0) {
        lossCount--
        incoming.socket.destroy()
        return
      }
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      if (cutCount > 0) {
        cutCount--
        outgoing.write(bytes.subarray(0, bytes.length / 2), () => incoming.socket.destroy())
        return
      }
      outgoing.end(bytes)
    })
    serverRequest.end(await buffer(incoming))
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(directory, { recursive: true })
  })
  const address = server.address()
  return {
    url: `https://localhost:${typeof address === 'object' && address?.port}`,
    ca,
    loseResponses(count) {
      lossCount = count
    },
    cutResponses(count) {
      cutCount = count
    },
    redirectTo(url) {
      baseUrl = url
    },
  }
}
