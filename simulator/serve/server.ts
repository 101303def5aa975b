import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { allotDueVouchers } from '../api/voucher-sales.ts'
import { cutOff } from '../faults/cut.ts'
import type { Fault, FaultKind } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { type Answer, failure } from '../http/answers.ts'
import { send } from '../http/send.ts'
import type { Call, Ledger } from '../world/ledger.ts'
import type { World } from '../world/world.ts'
import { el, fields } from '../xml/element.ts'
import { type Received, respond } from './respond.ts'

/** The parts of the simulator that the server needs. */
export interface Rig {
  world: World
  ledger: Ledger
  faults: Faults
  /** Runs work whose effects the ledger records under this call. */
  during<T>(call: Call, work: () => T): T
  /** Applies the change of a fault of kind `concurrent-change`. */
  changeConcurrently(fault: Fault, path: string): void
  /** Handles requests under `/_simulator`. */
  control(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void>
  /** Aborts everything that waits. */
  signal: AbortSignal
  /** In PEM. Without it, the server uses plain HTTP. */
  tls: { key: string; cert: string } | undefined
}

const largestBody = 10 * 1024 * 1024

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size > largestBody) return
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The path below the base; undefined outside of it. */
function belowBase(path: string, base: string): string | undefined {
  if (!path.toLowerCase().startsWith(base.toLowerCase())) return
  const suffix = path.slice(base.length)
  return suffix === '' || suffix.startsWith('/') ? suffix : undefined
}

/** Responses that replace the API's own. */
function standIn(fault: Fault): Answer | undefined {
  const { kind, status, retryAfter = 1, location = 'http://elsewhere.invalid/', code = 5015 } = fault
  if (kind === 'html') return failure(status ?? 500)
  if (kind === 'status') return failure(status ?? 503, { 'retry-after': String(retryAfter) })
  if (kind === 'redirect') return { status: 302, headers: { location }, body: undefined }
  if (kind !== 'error') return
  const body = el('AP21Error', fields({ ErrorCode: code, Description: fault.description ?? 'SQL error' }))
  return { status: status ?? 403, headers: {}, body, errorCode: code }
}

/** Returns the API's own response, with the clock and the order of rows that the faults require. */
function handled(rig: Rig, received: Received, faults: readonly Fault[], call: Call): Answer {
  const { world } = rig
  const find = (kind: FaultKind) => faults.find(fault => fault.kind === kind)
  const paging = { samePage: Boolean(find('same-page')), shuffled: Boolean(find('shuffled')) }
  for (const fault of faults) if (fault.kind === 'concurrent-change') rig.changeConcurrently(fault, received.path)
  return world.clock.skewed(find('wrong-clock')?.seconds ?? 0, () => {
    allotDueVouchers(world)
    const response = rig.during(call, () => respond(received, world, paging))
    return { ...response, headers: { date: new Date(world.clock.now()).toUTCString(), ...response.headers } }
  })
}

/** Handles one request and records its result in the ledger. */
async function serve(rig: Rig, request: IncomingMessage, response: ServerResponse, path: string, search: string) {
  const { world, ledger, signal } = rig
  const started = performance.now()
  const method = request.method ?? 'GET'
  const below = belowBase(path, world.settings.base)
  const call = ledger.open(method, `${below ?? path}${search}`, String(request.headers.accept ?? ''))
  const faults = rig.faults.take(method, below ?? path)
  call.faults = faults.map(fault => fault.kind)
  const met = (kind: FaultKind, applied: boolean) =>
    faults.find(fault => fault.kind === kind && (fault.applied === true) === applied)
  const cut = () => {
    call.outcome = 'cut'
    cutOff(request.socket)
  }
  const wait = (fault: Fault | undefined) =>
    fault && sleep((fault.seconds ?? 1) * 1_000, undefined, { signal }).catch(() => {})

  response.once('close', () => {
    call.milliseconds = Math.round(performance.now() - started)
    if (call.outcome === 'open') call.outcome = response.writableFinished ? 'answered' : 'unanswered'
  })
  if (met('down', false) || met('reset-before', false)) return cut()
  const body = await bodyOf(request)
  if (!body) return send(response, failure(413), [], { call, signal })

  await wait(met('latency', false))
  if (response.destroyed || met('hang', false)) return
  let answer: Answer | undefined
  for (const fault of faults) if (!fault.applied) answer ??= standIn(fault)
  if (!answer) {
    const received: Received = {
      method,
      path: below ?? '',
      search,
      headers: request.headers,
      body,
      root: `${rig.tls ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}${world.settings.base}`,
    }
    answer = below === undefined ? failure(404) : handled(rig, received, faults, call)
    for (const fault of faults) if (fault.applied) answer = standIn(fault) ?? answer
  }
  await wait(met('latency', true))
  if (met('lost-answer', false) ?? met('lost-answer', true)) return cut()
  if (response.destroyed || met('hang', true)) return
  await send(response, answer, faults, { call, signal })
}

/** The server: the API below its base, the control surface under `/_simulator`, a 404 page elsewhere. */
export function apiServer(rig: Rig): Server {
  const listener: RequestListener = async (request, response) => {
    const [path = '', ...queryParts] = (request.url ?? '/').split('?')
    try {
      if (/^\/_simulator(\/|$)/.test(path))
        await rig.control(request, response, (await bodyOf(request)) ?? Buffer.alloc(0))
      else await serve(rig, request, response, path, queryParts.length ? `?${queryParts.join('?')}` : '')
    } catch (error) {
      if (response.destroyed || rig.signal.aborted) return
      // A defect of the simulator itself must not look like a response of the API.
      console.error(error)
      response.statusCode = 500
      response.end('The simulator failed.')
    }
  }
  const options = { keepAliveTimeout: 30_000, requestTimeout: 0 }
  return rig.tls ? createSecureServer({ ...options, ...rig.tls }, listener) : createServer(options, listener)
}
