import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Body, parseBody, sendJson, setClock } from '../control/exchange.ts'
import type { ShopifyChange } from './changes.ts'
import { type ShopifyFault, shopifyFaultKinds } from './fault.ts'
import type { ShopifySimulator } from './handle.ts'
import type { ShopifySettings } from './settings.ts'
import { countRecords } from './state.ts'

const describe = ({ url, settings, shop, clock, faults, calls }: ShopifySimulator) => ({
  url,
  settings: { ...settings, clientSecret: undefined },
  clock: clock.state(),
  counts: countRecords(shop),
  calls: calls.length,
  throttled: calls.filter(({ isThrottled }) => isThrottled).length,
  faults: faults.list().length,
})

const routes: Record<string, (simulator: ShopifySimulator, body: Body, id: string) => unknown> = {
  'GET state': simulator => describe(simulator),
  'POST settings': (simulator, body) => {
    simulator.set(body as Partial<ShopifySettings>)
    return describe(simulator)
  },
  'POST clock': ({ clock }, body) => setClock(clock, body),
  'GET faults': ({ faults }) => ({ faults: faults.list(), kinds: shopifyFaultKinds }),
  'POST faults': ({ faults }, body) => faults.add(body as unknown as ShopifyFault),
  'DELETE faults': ({ faults }, _, id) => {
    if (id) return { removed: faults.remove(Number(id)) }
    faults.clear()
    return { removed: true }
  },
  'GET calls': ({ calls }) => ({ calls: calls.slice(-100) }),
  'GET records': ({ shop }, _, type) => {
    const list = shop[type as 'locations' | 'variants' | 'customers' | 'orders']
    if (!(list instanceof Map)) throw new TypeError('The list must be locations, variants, customers or orders')
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

/** Handles requests to `/_simulator` and below, without authentication. */
export async function handleShopifyControl(
  simulator: ShopifySimulator,
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
) {
  const [name = '', id = ''] = (request.url ?? '').split('?')[0]?.split('/').slice(2).filter(Boolean) ?? []
  const route = routes[`${request.method ?? 'GET'} ${name}`]
  if (!route) return sendJson(response, 404, { error: `Not found. Calls are ${Object.keys(routes).join(', ')}` })
  try {
    const body = request.method === 'POST' ? parseBody(request, text) : {}
    sendJson(response, 200, route(simulator, body, id))
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError)) throw error
    sendJson(response, 400, { error: error.message })
  }
}
