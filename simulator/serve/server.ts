import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { allotDueVouchers } from '../api/voucher-sales.ts'
import { cutOff } from '../faults/cut.ts'
import type { Fault, FaultKind } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { type ApiResponse, respondFailure } from '../http/responses.ts'
import { send } from '../http/send.ts'
import type { Call, Ledger } from '../world/ledger.ts'
import type { World } from '../world/world.ts'
import { el, fields } from '../xml/element.ts'
import { type ReceivedRequest, respond } from './respond.ts'

/** The parts of the simulator that the server needs. */
export interface ServerContext {
  world: World
  ledger: Ledger
  faults: Faults
  /** Runs work whose effects the ledger records under this call. */
  recordUnder<T>(call: Call, work: () => T): T
  /** Applies the change of a `concurrent-change` fault. */
  changeConcurrently(fault: Fault, path: string): void
  /** Handles requests under `/_simulator`. */
  control(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void>
  /** Aborts all waits when the simulator closes. */
  signal: AbortSignal
  /** The key and the certificate, in PEM. If undefined, the server uses plain HTTP. */
  tls: { key: string; cert: string } | undefined
}

const maxBodyBytes = 10 * 1024 * 1024

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size > maxBodyBytes) return
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Returns the path below the base, or undefined if the path is outside the base. */
function getPathBelowBase(path: string, base: string): string | undefined {
  if (!path.toLowerCase().startsWith(base.toLowerCase())) return
  const suffix = path.slice(base.length)
  return suffix === '' || suffix.startsWith('/') ? suffix : undefined
}

/** Returns the response with which a fault replaces that of the API, or undefined. */
function createFaultResponse(fault: Fault): ApiResponse | undefined {
  const { kind, status, retryAfter = 1, location = 'http://elsewhere.invalid/', code = 5015 } = fault
  if (kind === 'html') return respondFailure(status ?? 500)
  if (kind === 'status') return respondFailure(status ?? 503, { 'retry-after': String(retryAfter) })
  if (kind === 'redirect') return { status: 302, headers: { location }, body: undefined }
  if (kind !== 'error') return
  const body = el('AP21Error', fields({ ErrorCode: code, Description: fault.description ?? 'SQL error' }))
  return { status: status ?? 403, headers: {}, body, errorCode: code }
}

/** Returns the API's response after applying faults of the clock, of pages and of concurrent changes. */
function handleWithFaults(
  context: ServerContext,
  received: ReceivedRequest,
  faults: readonly Fault[],
  call: Call,
): ApiResponse {
  const { world } = context
  const find = (kind: FaultKind) => faults.find(fault => fault.kind === kind)
  const paging = { samePage: Boolean(find('same-page')), shuffled: Boolean(find('shuffled')) }
  for (const fault of faults) if (fault.kind === 'concurrent-change') context.changeConcurrently(fault, received.path)
  return world.clock.runSkewed(find('wrong-clock')?.seconds ?? 0, () => {
    allotDueVouchers(world)
    const response = context.recordUnder(call, () => respond(received, world, paging))
    return { ...response, headers: { date: new Date(world.clock.now()).toUTCString(), ...response.headers } }
  })
}

/** Handles one request and records its result in the ledger. */
async function serve(
  context: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  search: string,
) {
  const { world, ledger, signal } = context
  const started = performance.now()
  const method = request.method ?? 'GET'
  const below = getPathBelowBase(path, world.settings.base)
  const call = ledger.openCall(method, `${below ?? path}${search}`, String(request.headers.accept ?? ''))
  const faults = context.faults.take(method, below ?? path)
  call.faults = faults.map(fault => fault.kind)
  const findFault = (kind: FaultKind, applied: boolean) =>
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
  if (findFault('down', false) || findFault('reset-before', false)) return cut()
  const body = await readBody(request)
  if (!body) return send(response, respondFailure(413), [], { call, signal })

  await wait(findFault('latency', false))
  if (response.destroyed || findFault('hang', false)) return
  let apiResponse: ApiResponse | undefined
  for (const fault of faults) if (!fault.applied) apiResponse ??= createFaultResponse(fault)
  if (!apiResponse) {
    const received: ReceivedRequest = {
      method,
      path: below ?? '',
      search,
      headers: request.headers,
      body,
      root: `${context.tls ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}${world.settings.base}`,
    }
    apiResponse = below === undefined ? respondFailure(404) : handleWithFaults(context, received, faults, call)
    for (const fault of faults) if (fault.applied) apiResponse = createFaultResponse(fault) ?? apiResponse
  }
  await wait(findFault('latency', true))
  if (findFault('lost-response', false) ?? findFault('lost-response', true)) return cut()
  if (response.destroyed || findFault('hang', true)) return
  await send(response, apiResponse, faults, { call, signal })
}

/** Creates the server: the API below its base, the control API under `/_simulator`, and a 404 page for other paths. */
export function createApiServer(context: ServerContext): Server {
  const listener: RequestListener = async (request, response) => {
    const [path = '', ...queryParts] = (request.url ?? '/').split('?')
    try {
      if (/^\/_simulator(\/|$)/.test(path))
        await context.control(request, response, (await readBody(request)) ?? Buffer.alloc(0))
      else await serve(context, request, response, path, queryParts.length ? `?${queryParts.join('?')}` : '')
    } catch (error) {
      if (response.destroyed || context.signal.aborted) return
      // A defect of the simulator must not look like a response of the API.
      console.error(error)
      response.statusCode = 500
      response.end('The simulator failed.')
    }
  }
  const options = { keepAliveTimeout: 30_000, requestTimeout: 0 }
  return context.tls ? createSecureServer({ ...options, ...context.tls }, listener) : createServer(options, listener)
}
