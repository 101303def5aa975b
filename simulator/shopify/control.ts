import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ShopifyChange } from './changes.ts'
import { type ShopifyFault, shopifyFaultKinds } from './fault.ts'
import type { ShopifySimulator } from './handle.ts'
import type { ShopifySettings } from './settings.ts'
import { countRecords } from './state.ts'

type Body = Record<string, unknown>

const describe = ({ url, settings, shop, clock, faults, calls }: ShopifySimulator) => ({
  url,
  settings: { ...settings, clientSecret: undefined },
  clock: clock.state(),
  counts: countRecords(shop),
  calls: calls.length,
  throttled: calls.filter(({ isThrottled }) => isThrottled).length,
  faults: faults.list().length,
})

const routes: Record<string, (simulator: ShopifySimulator, body: Body, rest: string) => unknown> = {
  'GET state': simulator => describe(simulator),
  'POST settings': (simulator, body) => {
    simulator.set(body as Partial<ShopifySettings>)
    return describe(simulator)
  },
  'POST clock': ({ clock }, body) => {
    if (typeof body.set === 'string') clock.set(body.set)
    if (typeof body.advance === 'number') clock.advance(body.advance)
    return clock.state()
  },
  'GET faults': ({ faults }) => ({ faults: faults.list(), kinds: shopifyFaultKinds }),
  'POST faults': ({ faults }, body) => faults.add(body as unknown as ShopifyFault),
  'DELETE faults': ({ faults }, _, rest) => {
    if (rest) return { removed: faults.remove(Number(rest)) }
    faults.clear()
    return { removed: true }
  },
  'GET calls': ({ calls }) => ({ calls: calls.slice(-100) }),
  'GET records': ({ shop }, _, type) => {
    const list = shop[type as 'locations' | 'variants' | 'customers' | 'orders']
    if (!(list instanceof Map)) throw new TypeError('List locations, variants, customers or orders')
    return { records: [...list.values()].slice(0, 1_000) }
  },
  'POST changes': (simulator, body) => ({ id: simulator.change(body as unknown as ShopifyChange) }),
  'DELETE tokens': simulator => {
    simulator.revokeTokens()
    return { revoked: true }
  },
  'POST reset': (simulator, body) => {
    simulator.reset(typeof body.seed === 'string' ? body.seed : undefined)
    return describe(simulator)
  },
}

function readObject(request: IncomingMessage, text: string): Body {
  // A page of another site can post a form, but no JSON.
  if (!/^application\/json\b/.test(String(request.headers['content-type'] ?? '')))
    throw new TypeError('Send application/json')
  const value: unknown = JSON.parse(text || '{}')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('Send an object')
  return value as Body
}

/** Serves `/_simulator` and everything below it, without authentication. */
export async function answerShopifyControl(
  simulator: ShopifySimulator,
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
) {
  const [name = '', ...rest] = (request.url ?? '').split('?')[0]?.split('/').slice(2).filter(Boolean) ?? []
  const send = (status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    response.end(`${JSON.stringify(body, null, 1)}\n`)
  }
  const route = routes[`${request.method ?? 'GET'} ${name}`]
  if (!route) return send(404, { error: `There are ${Object.keys(routes).join(', ')}` })
  try {
    const body = request.method === 'POST' ? readObject(request, text) : {}
    send(200, route(simulator, body, rest.join('/')))
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error
    send(400, { error: error.message })
  }
}
