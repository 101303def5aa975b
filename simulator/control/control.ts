import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FaultInput } from '../faults/fault.ts'
import { faultKinds } from '../faults/fault.ts'
import { readQuery } from '../http/request.ts'
import { countRecords } from '../shop/shop.ts'
import type { EffectKind } from '../world/ledger.ts'
import type { World } from '../world/world.ts'
import type { Change } from './changes.ts'
import { type Body, parseBody, sendJson, setClock } from './exchange.ts'
import { createExport, isExport } from './export.ts'
import type { Simulator } from './handle.ts'
import { buildStatePage } from './page.ts'

interface ControlRequest {
  simulator: Simulator
  world: World
  body: Body
  query: (name: string) => string | undefined
  /** The path after the route. */
  path: string
}

/** Removes the password from the settings. */
const hidePassword = (settings: Simulator['settings']) => ({
  ...settings,
  credentials: settings.credentials && { user: settings.credentials.user },
})

export const describeState = ({ state, settings, clock, faults, ledger, url }: Simulator) => ({
  url,
  settings: hidePassword(settings),
  clock: clock.state(),
  counts: countRecords(state),
  ledger: { calls: ledger.calls.length, effects: ledger.effects.length },
  faults: faults.list().length,
})

const takeLast = <T>(list: readonly T[], query: ControlRequest['query']) => list.slice(-Number(query('limit') ?? 100))

/** Maximum seconds for which a port stays closed. No request can open it earlier. */
const maxClosedSeconds = 3_600

function stopAcceptingFor(simulator: Simulator, body: Body): void {
  const seconds = Math.min(typeof body.seconds === 'number' ? body.seconds : 5, maxClosedSeconds)
  // Sends the response to this request first.
  setTimeout(() => simulator.stopAccepting(seconds), 50)
}

/** The calls of the control API. Each returns the body of its response. */
const routes: Record<string, (request: ControlRequest) => unknown> = {
  'GET state': ({ simulator }) => describeState(simulator),
  'POST settings': ({ simulator, body }) => {
    simulator.set(body as Partial<Simulator['settings']>)
    return hidePassword(simulator.settings)
  },
  'GET clock': ({ simulator }) => simulator.clock.state(),
  'POST clock': ({ simulator, body }) => setClock(simulator.clock, body),
  'DELETE clock': ({ simulator }) => {
    simulator.clock.reset()
    return simulator.clock.state()
  },
  'GET faults': ({ simulator }) => ({ faults: simulator.faults.list(), kinds: faultKinds }),
  'POST faults': ({ simulator, body }) => simulator.faults.add(body as unknown as FaultInput),
  'DELETE faults': ({ simulator, path }) => {
    if (path) return { removed: simulator.faults.remove(Number(path)) }
    simulator.faults.clear()
    return { removed: true }
  },
  'GET ledger': ({ simulator: { ledger }, query }) => {
    const [method, path, effect] = ['method', 'path', 'effect'].map(query)
    const calls = ledger.findCalls({ ...(method && { method }), ...(path && { path }) })
    const effects = effect ? ledger.findEffects(effect as EffectKind) : ledger.effects
    return {
      totals: { calls: calls.length, effects: effects.length },
      calls: takeLast(calls, query),
      effects: takeLast(effects, query),
    }
  },
  'DELETE ledger': ({ simulator }) => {
    simulator.ledger.clear()
    return { cleared: true }
  },
  'POST changes': ({ simulator, body }) => ({ id: simulator.change(body as unknown as Change) }),
  'GET vouchers': ({ simulator: { state }, query }) => takeLast([...state.vouchers.values()], query),
  'GET mail': ({ simulator: { state }, query }) => takeLast(state.mail, query),
  'POST reset': ({ simulator, body }) => {
    simulator.reset(typeof body.seed === 'string' ? body.seed : undefined)
    return describeState(simulator)
  },
  'POST down': ({ simulator, body }) => {
    stopAcceptingFor(simulator, body)
    return { down: true }
  },
}

/** Handles requests to `/_simulator` and below, without authentication. */
export async function handleControl(
  simulator: Simulator,
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  raw: Buffer,
) {
  const [path = '', search = ''] = (request.url ?? '').split('?')
  const [name = '', ...segments] = path.split('/').slice(2).filter(Boolean)
  const method = request.method ?? 'GET'
  if (name === '') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(buildStatePage(simulator))
    return
  }
  const exportName = (segments[0] ?? '').replace(/\.csv$/, '')
  if (method === 'GET' && name === 'export' && isExport(exportName)) {
    const { file, lines } = createExport(exportName, world)
    response.writeHead(200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${file}"`,
    })
    response.end([...lines].join(''))
    return
  }
  const route = Object.hasOwn(routes, `${method} ${name}`) ? routes[`${method} ${name}`] : undefined
  if (!route)
    return sendJson(response, 404, {
      error: `Not found. Calls are ${Object.keys(routes).join(', ')}, GET export/customers.csv`,
    })
  try {
    const body = method === 'POST' ? parseBody(request, raw.toString()) : {}
    sendJson(response, 200, route({ simulator, world, body, query: readQuery(search), path: segments.join('/') }))
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError)) throw error
    sendJson(response, 400, { error: error.message })
  }
}
