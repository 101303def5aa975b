import { setTimeout as delay } from 'node:timers/promises'
import { XmlFault } from '../xml/xml.ts'
import { isPage, judge } from './answers.ts'
import { makeBreaker } from './breaker.ts'
import { makeBulkhead } from './bulkhead.ts'
import { type Connection, defaultLimits, type Limits } from './connection.ts'
import { apiErrorFor } from './errors.ts'
import { type Incoming, openWire } from './exchange.ts'
import { apiErrorOf, Failure, isOutage } from './failure.ts'
import { noData, Refusal } from './refusal.ts'
import { type Asking, addressOf, headersOf, isPath } from './request.ts'
import { makeRetryBudget } from './retries.ts'

/** A write. Without a body none is sent. */
export interface Writing extends Asking {
  method: 'POST' | 'PUT' | 'DELETE'
  body?: string
}

/** A call under way: its answer's head has come. */
export interface Call {
  incoming: Incoming
  /** "No data" too. */
  refusal: Refusal | undefined
  /** Says how it went, and makes way for the next. */
  settle(error?: unknown): void
}

/** The calls of one back office: with deadlines, a breaker, a bulkhead, and repeats within a budget. */
export interface Calls {
  readonly limits: Limits
  /** A read, repeated once where that may help. `read` settles the call, or hands it on. Throws `ApiError`s. */
  reading<T>(asking: Asking, read: (call: Call) => Promise<T>): Promise<T>
  /** A write, which is never repeated. Throws `ApiError`s. */
  writing<T>(writing: Writing, read: (call: Call) => T): Promise<T>
  close(): void
}

export function openCalls(connection: Connection): Calls {
  const limits: Limits = { ...defaultLimits, ...connection.limits }
  const { log } = connection
  const wire = openWire(connection, limits.concurrency)
  const bulkhead = makeBulkhead(limits)
  const budget = makeRetryBudget()
  const onChange = (state: 'open' | 'closed') => {
    log?.warn({ state }, 'The breaker of the back office has changed.')
    connection.onBreaker?.(state)
  }
  const breaker = makeBreaker({ ...limits, onChange })
  let credentials: 'accepted' | 'refused' | undefined
  const hear = (now: 'accepted' | 'refused') => {
    if (credentials === now) return
    credentials = now
    connection.onCredentials?.(now)
  }
  /** Nothing is asked before: the back office has said so. */
  let restsUntil = 0

  const sizes = {
    call: { ms: limits.deadlineMs, bytes: limits.answerBytes },
    page: { ms: limits.pageDeadlineMs, bytes: limits.pageBytes },
    bulk: { ms: limits.bulkDeadlineMs, bytes: limits.bulkBytes },
  }
  const deadlineOf = ({ size = 'call', signal }: Asking) =>
    AbortSignal.any([AbortSignal.timeout(sizes[size].ms), ...(signal ? [signal] : [])])

  /** Gets an answer's head. */
  async function begin(asking: Asking & Partial<Writing>, signal: AbortSignal): Promise<Call> {
    if (!isPath(asking)) return nobody
    const { method = 'GET', body, size = 'call' } = asking
    const { target: url, shown } = addressOf(connection, asking)
    const note = (facts: object, message: string) => log?.warn({ call: `${method} ${shown}`, ...facts }, message)
    const blockedMs = breaker.enter()
    if (blockedMs > 0) throw new Failure('closed', 'The back office is given a rest.', { waitMs: blockedMs })
    let leave = () => {}
    let isSettled = false
    const settle = (error?: unknown) => {
      if (isSettled) return
      isSettled = true
      signal.removeEventListener('abort', giveUp)
      leave()
      const failure = error instanceof Failure ? error : undefined
      if (failure?.kind === 'busy' && failure.waitMs)
        restsUntil = Math.max(restsUntil, performance.now() + failure.waitMs)
      if (failure?.kind === 'denied') {
        hear('refused')
        breaker.open(failure.waitMs ?? limits.mostOpenMs)
      } else if (failure?.kind === 'closed' || asking.signal?.aborted) breaker.gaveUp()
      else if (failure && isOutage(failure)) breaker.failed()
      else breaker.passed()
      if (failure) note(told(failure), 'A call of the back office came to nothing.')
    }
    const giveUp = () => settle(new Failure('lost', 'The answer did not end in time.'))
    try {
      await rest(signal)
      leave = await bulkhead.enter(signal)
      const headers = headersOf(connection, asking)
      const incoming = await wire.exchange({ method, url, body, headers, signal, mostBytes: sizes[size].bytes })
      const refusal = await judge(incoming)
      // The page at the root is for everybody.
      if (asking.path.length) hear('accepted')
      if (refusal && refusal.code !== noData)
        note({ status: refusal.status, code: refusal.code }, 'The back office refuses a call.')
      // However its answer is left, it is over at its deadline.
      signal.addEventListener('abort', giveUp, { once: true })
      return { incoming, refusal, settle }
    } catch (error) {
      settle(error)
      throw error
    }
  }

  /** Waits until the back office may be asked again; throws where that is too long. */
  async function rest(signal: AbortSignal) {
    const waitMs = restsUntil - performance.now()
    if (waitMs <= 0) return
    if (waitMs > limits.patienceMs) throw new Failure('closed', 'The back office asks for a rest.', { waitMs })
    await pause(waitMs, signal)
  }

  return {
    limits,
    async reading(asking, read) {
      const signal = deadlineOf(asking)
      budget.earn()
      for (let isRepeat = false; ; isRepeat = true) {
        try {
          const call = await begin(asking, signal)
          try {
            return await read(call)
          } catch (error) {
            call.settle(asFailure(error))
            throw error
          }
        } catch (error) {
          const failure = asFailure(error)
          if (!(failure instanceof Failure))
            throw error instanceof Refusal ? apiErrorFor(asking.endpoint, error) : error
          if (isRepeat || signal.aborted || !mayHelp(failure, limits) || !budget.spend())
            throw apiErrorOf(failure, false)
          await pause(failure.waitMs ?? 100, signal).catch(() => {})
        }
      }
    },
    async writing(writing, read) {
      budget.earn()
      try {
        const call = await begin(writing, deadlineOf(writing))
        const page = !call.refusal && (await isPage(call.incoming))
        const failure = page ? new Failure('crashed', 'A page came instead of an answer.') : undefined
        call.incoming.discard()
        call.settle(failure)
        if (call.refusal ?? failure) throw call.refusal ?? failure
        return read(call)
      } catch (error) {
        if (error instanceof Refusal) throw apiErrorFor(writing.endpoint, error)
        throw error instanceof Failure ? apiErrorOf(error, true) : error
      }
    },
    close: () => wire.close(),
  }
}

/** What is answered to a question about nobody, which is not asked. */
const nobody: Call = {
  incoming: { status: 404, headers: {}, body: ReadableStream.from([]), discard() {} },
  refusal: new Refusal(404, noData, ''),
  settle() {},
}

/** What was not the XML that was asked for is a failure of the call. */
export const asFailure = (error: unknown) =>
  error instanceof XmlFault ? new Failure('unreadable', error.message, { cause: error }) : error

const mayHelp = (failure: Failure, { patienceMs }: Limits) =>
  (isOutage(failure) && (failure.waitMs ?? 0) <= patienceMs) || failure.cause instanceof XmlFault

/** Waits that long and a little more, so that not all who wait come back at once. */
const pause = (ms: number, signal: AbortSignal) =>
  delay(ms + Math.random() * (50 + ms / 5), undefined, { signal }).catch(() => {
    throw new Failure('closed', 'The time was over before the back office could be asked.')
  })

/** What a log may say of a failure. */
function told({ message, kind, cause }: Failure) {
  const { code } = (cause ?? {}) as { code?: unknown }
  return { fault: message, kind, ...(typeof code === 'string' && { cause: code }) }
}
