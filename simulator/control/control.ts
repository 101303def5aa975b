import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FaultInput } from '../faults/fault.ts'
import { faultKinds } from '../faults/fault.ts'
import { readQuery } from '../http/request.ts'
import { counts } from '../shop/shop.ts'
import type { EffectKind } from '../world/ledger.ts'
import type { World } from '../world/world.ts'
import type { Change } from './changes.ts'
import { type Body, parseBody, sendJson, setClock } from './exchange.ts'
import { exportOf, isExport } from './export.ts'
import type { Simulator } from './handle.ts'
import { statePage } from './page.ts'

interface ControlRequest {
  simulator: Simulator
  world: World
  body: Body
  query: (name: string) => string | undefined
  /** The rest of the path after the route. */
  path: string
}

/** Passwords are hidden even here. */
const shown = (settings: Simulator['settings']) => ({
  ...settings,
  credentials: settings.credentials && { user: settings.credentials.user },
})

export const stateOf = ({ state, settings, clock, faults, ledger, url }: Simulator) => ({
  url,
  settings: shown(settings),
  clock: clock.state(),
  counts: counts(state),
  ledger: { calls: ledger.calls.length, effects: ledger.effects.length },
  faults: faults.list().length,
})

const last = <T>(list: readonly T[], query: ControlRequest['query']) => list.slice(-Number(query('limit') ?? 100))

/** The longest time for which a port stays closed, because no request could open it again. */
const maxClosedSeconds = 3_600

function stopAcceptingFor(simulator: Simulator, body: Body): void {
  const seconds = Math.min(typeof body.seconds === 'number' ? body.seconds : 5, maxClosedSeconds)
  // The response to this request must be sent first.
  setTimeout(() => simulator.stopAccepting(seconds), 50)
}

/** The calls of the control surface. Each returns the body of its response. */
const routes: Record<string, (request: ControlRequest) => unknown> = {
  'GET state': ({ simulator }) => stateOf(simulator),
  'POST settings': ({ simulator, body }) => {
    simulator.set(body as Partial<Simulator['settings']>)
    return shown(simulator.settings)
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
    const calls = ledger.callsTo({ ...(method && { method }), ...(path && { path }) })
    const effects = effect ? ledger.effectsOf(effect as EffectKind) : ledger.effects
    return {
      totals: { calls: calls.length, effects: effects.length },
      calls: last(calls, query),
      effects: last(effects, query),
    }
  },
  'DELETE ledger': ({ simulator }) => {
    simulator.ledger.clear()
    return { cleared: true }
  },
  'POST changes': ({ simulator, body }) => ({ id: simulator.change(body as unknown as Change) }),
  'GET vouchers': ({ simulator: { state }, query }) => last([...state.vouchers.values()], query),
  'GET mail': ({ simulator: { state }, query }) => last(state.mail, query),
  'POST reset': ({ simulator, body }) => {
    simulator.reset(typeof body.seed === 'string' ? body.seed : undefined)
    return stateOf(simulator)
  },
  'POST down': ({ simulator, body }) => {
    stopAcceptingFor(simulator, body)
    return { down: true }
  },
}

/** Serves `/_simulator` and everything below it, without authentication, on this machine only. */
export async function answerControl(
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
    response.end(statePage(simulator))
    return
  }
  const exportName = (segments[0] ?? '').replace(/\.csv$/, '')
  if (method === 'GET' && name === 'export' && isExport(exportName)) {
    const { file, lines } = exportOf(exportName, world)
    response.writeHead(200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${file}"`,
    })
    response.end([...lines].join(''))
    return
  }
  const route = Object.hasOwn(routes, `${method} ${name}`) ? routes[`${method} ${name}`] : undefined
  if (!route)
    return sendJson(response, 404, { error: `There are ${Object.keys(routes).join(', ')}, GET export/customers.csv` })
  try {
    const body = method === 'POST' ? parseBody(request, raw.toString()) : {}
    sendJson(response, 200, route({ simulator, world, body, query: readQuery(search), path: segments.join('/') }))
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError)) throw error
    sendJson(response, 400, { error: error.message })
  }
}
