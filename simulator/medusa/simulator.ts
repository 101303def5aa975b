import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { cutOff } from '../faults/cut.ts'
import type { FaultConditions } from '../faults/fault.ts'
import { createFaults, type Faults } from '../faults/faults.ts'
import { handleMedusaRequest } from './api.ts'
import { applyMedusaChange, type MedusaChange } from './changes.ts'
import { createMedusaShop, type MedusaShop } from './state.ts'

/** A fault of the simulated Medusa. `path` is that of the request. */
export interface MedusaFault extends FaultConditions {
  /**
   * `lost-response`: the effect happens, then the connection is reset. `reset-before`: the connection is reset before any effect. `status`: an
   * error without JSON. `page-repeated`: the first page, whatever offset is sent. `concurrent-change`: `change` happens right before the request.
   */
  kind: 'lost-response' | 'reset-before' | 'status' | 'page-repeated' | 'concurrent-change'
  /** Default 502. */
  status?: number
  change?: MedusaChange
  /** Applies the fault only to the page of a list that begins at this offset. */
  offset?: number
}

/** A request that the simulator received, without its credentials. */
export interface MedusaCall {
  method: string
  path: string
  query: string
  body: unknown
  status: number | null
}

export interface MedusaSimulator {
  /** The address of the Admin API, such as `http://127.0.0.1:9000`. */
  readonly url: string
  /** The secret API key. */
  readonly token: string
  readonly shop: MedusaShop
  readonly calls: MedusaCall[]
  readonly faults: Faults<MedusaFault>
  /** Applies a change by the merchant or a shopper. Returns the ID of the record. */
  change(change: MedusaChange): string
  /** Revokes the API key: later requests get 401. */
  revokeToken(): void
  close(): Promise<void>
}

/** Starts a simulated Medusa without records. It has the routes of the Admin API that Tillbridge uses. */
export async function startMedusaSimulator(): Promise<MedusaSimulator> {
  const shop = createMedusaShop()
  const calls: MedusaCall[] = []
  const token = `sk_${'5'.repeat(64)}`
  let isRevoked = false
  let lastId = 0
  const createId = (prefix: string) => `${prefix}_${String(++lastId).padStart(26, '0')}`
  const now = () => new Date().toISOString()
  const faults = createFaults<MedusaFault>(
    () => true,
    value => value as MedusaFault,
  )
  const change = (input: MedusaChange) => applyMedusaChange(shop, input, now(), createId)

  async function handleRequest(request: IncomingMessage, response: ServerResponse) {
    const { pathname, searchParams, search } = new URL(request.url ?? '/', 'http://localhost')
    const { method = 'GET', headers } = request
    const body = method === 'POST' ? await json(request) : undefined
    const call: MedusaCall = { method, path: pathname, query: search, body, status: null }
    calls.push(call)
    const activeFaults = faults
      .take(method, pathname)
      .filter(({ offset }) => offset === undefined || offset === Number(searchParams.get('offset')))
    const find = (kind: MedusaFault['kind']) => activeFaults.find(fault => fault.kind === kind)
    const send = (status: number, content: object | string) => {
      call.status = status
      response.writeHead(status, { 'content-type': typeof content === 'string' ? 'text/html' : 'application/json' })
      response.end(typeof content === 'string' ? content : JSON.stringify(content))
    }
    if (find('reset-before')) return cutOff(request.socket)
    const failure = find('status')
    if (failure) return send(failure.status ?? 502, '<html><body>Bad gateway</body></html>')
    const [, credentials = ''] = /^Basic (.*)$/.exec(headers.authorization ?? '') ?? []
    if (isRevoked || Buffer.from(credentials, 'base64').toString() !== `${token}:`)
      return send(401, { message: 'Unauthorized' })
    for (const fault of activeFaults) if (fault.change) change(fault.change)
    const result = handleMedusaRequest(
      shop,
      { method, path: pathname, query: searchParams, body },
      { now: now(), createId, isRepeated: find('page-repeated') !== undefined },
    )
    if (find('lost-response')) return cutOff(request.socket)
    send(result.status, result.body)
  }

  const server = createServer((request, response) => {
    handleRequest(request, response).catch(error => {
      if (!response.headersSent) response.writeHead(500).end(String(error))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    shop,
    calls,
    faults,
    change,
    revokeToken: () => {
      isRevoked = true
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
