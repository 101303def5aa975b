import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { cutOff } from '../faults/cut.ts'
import { writeFaultyDocument } from '../faults/distort.ts'
import type { Fault, FaultKind } from '../faults/fault.ts'
import type { Call } from '../world/ledger.ts'
import type { ApiResponse } from './responses.ts'

const blockSize = 65_536

/** Joins small strings into blocks of at least `blockSize` characters. */
function* toBlocks(pieces: Iterable<string>): Generator<Buffer> {
  let text = ''
  for (const piece of pieces) {
    text += piece
    if (text.length < blockSize) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text) yield Buffer.from(text)
}

/** Returns the blocks of a response body. */
function buildBody({ body }: ApiResponse, faults: readonly Fault[]): Generator<Buffer> {
  if (body === undefined) return toBlocks([])
  return toBlocks(typeof body === 'string' ? [body] : writeFaultyDocument(body, faults))
}

const findFault = (faults: readonly Fault[], kind: FaultKind) => faults.find(fault => fault.kind === kind)

/** Sends a block. Returns false if the client has closed the connection. */
async function write(response: ServerResponse, block: Buffer): Promise<boolean> {
  if (response.destroyed) return false
  if (response.write(block)) return true
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = () => resolve()
  response.once('drain', done).once('close', done)
  await promise
  response.off('drain', done).off('close', done)
  return !response.destroyed
}

async function writeSlowly(response: ServerResponse, block: Buffer, bytesPerSecond: number, signal: AbortSignal) {
  for (let i = 0; i < block.length; i++) {
    if (!(await write(response, block.subarray(i, i + 1)))) return false
    await sleep(1_000 / bytesPerSecond, undefined, { signal }).catch(() => {})
  }
  return true
}

function cutResponse(response: ServerResponse, call: Call) {
  call.outcome = 'cut'
  cutOff(response.socket)
}

/** Sends a response and applies the network faults to it. */
export async function send(
  response: ServerResponse,
  apiResponse: ApiResponse,
  faults: readonly Fault[],
  { call, signal }: { call: Call; signal: AbortSignal },
): Promise<void> {
  const body = buildBody(findFault(faults, 'empty-body') ? { ...apiResponse, body: undefined } : apiResponse, faults)
  const first = body.next().value ?? Buffer.alloc(0)
  let next = body.next()
  const cutFault = findFault(faults, 'truncated') ?? findFault(faults, 'reset-during')
  // A long response is cut after its first block, because its length is not known yet.
  const end = cutFault
    ? Math.min(cutFault.bytes ?? (next.done ? first.length >> 1 : first.length), first.length)
    : Number.NaN

  response.statusCode = apiResponse.status
  response.setHeader('cache-control', 'private')
  response.setHeader('server', 'Microsoft-IIS/10.0')
  if (first.length)
    response.setHeader(
      'content-type',
      typeof apiResponse.body === 'string' ? 'text/html; charset=utf-8' : 'text/xml; charset=utf-8',
    )
  for (const [name, value] of Object.entries(apiResponse.headers)) response.setHeader(name, value)
  if (next.done) response.setHeader('content-length', cutFault?.kind === 'truncated' ? end : first.length)
  call.status = apiResponse.status
  call.errorCode = apiResponse.errorCode ?? null
  if (!first.length) {
    response.end()
    return
  }
  response.flushHeaders()

  if (cutFault) {
    await write(response, first.subarray(0, end))
    call.bytes = end
    if (cutFault.kind === 'truncated') response.end()
    // The bytes must arrive before the reset.
    else await sleep(20).then(() => cutResponse(response, call))
    return
  }
  const slow = findFault(faults, 'slow')
  for (let block = first; ; block = next.value ?? first, next = body.next()) {
    const isSent = slow ? writeSlowly(response, block, slow.bytesPerSecond ?? 1, signal) : write(response, block)
    if (!(await isSent)) {
      call.outcome = 'cut'
      return
    }
    call.bytes += block.length
    if (next.done) break
  }
  response.end()
}
