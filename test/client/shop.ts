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

export const apiKeyOf = ({ username, password }: Caller) => Buffer.from(`${username}:${password}`).toString('base64')

/** The runtime's own `fetch` is what clients use; it trusts the certificates of the tests. */
export const trust = (ca: string) => setDefaultCACertificates([...getCACertificates('default'), ca])

export function clientOf(api: TestApi, caller: Caller = api, more: Partial<Connection> = {}): Tillbridge {
  trust(api.ca)
  return tillbridge({ url: api.baseUrl, apiKey: apiKeyOf(caller), service: caller.service.name, ...more })
}

/** A proxy between client and service that forwards everything by default. */
export interface Network {
  url: string
  /** The authority of its certificate, as PEM. */
  ca: string
  /** Loses the next `count` responses: the service has answered, and the client's connection ends. */
  loseResponses(count: number): void
  /** Ends the connection within the body of `count` responses, after the lost ones. */
  cutResponses(count: number): void
  /** Redirects requests to another server. */
  leadTo(baseUrl: string): void
}

export async function startNetwork(target: string): Promise<Network> {
  let baseUrl = target
  let toLose = 0
  let toCut = 0
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-network-'))
  const { certFile, keyFile, caFile } = ensureLocalFiles(directory)
  const ca = readFileSync(caFile, 'utf8')
  trust(ca)
  const certificate = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  const server = createServer(certificate, async (incoming, answer) => {
    const far = request(baseUrl + incoming.url, { method: incoming.method, headers: incoming.headers, agent: false })
    far.on('error', () => incoming.socket.destroy())
    far.on('response', async response => {
      const bytes = await buffer(response)
      if (toLose > 0) {
        toLose--
        incoming.socket.destroy()
        return
      }
      answer.writeHead(response.statusCode ?? 502, response.headers)
      if (toCut > 0) {
        toCut--
        answer.write(bytes.subarray(0, bytes.length / 2), () => incoming.socket.destroy())
        return
      }
      answer.end(bytes)
    })
    far.end(await buffer(incoming))
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
      toLose = count
    },
    cutResponses(count) {
      toCut = count
    },
    leadTo(url) {
      baseUrl = url
    },
  }
}
