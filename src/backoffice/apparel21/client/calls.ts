import { createCircuitBreaker } from '../../../http-client/circuit-breaker.ts'
import { attemptOver } from './attempt.ts'
import { createBulkhead, limitedBy } from './bulkhead.ts'
import { boundsOf, type Connection, defaultLimits, type Limits } from './connection.ts'
import { resting } from './cool-down.ts'
import { credentialsTold } from './credentials.ts'
import { apiErrorFrom } from './errors.ts'
import { type Incoming, openWire } from './exchange.ts'
import { asFailure } from './failure.ts'
import { logged } from './log.ts'
import { noData, Refusal } from './rejection.ts'
import { type Asking, isPath, type Writing } from './request.ts'
import { makeRetryBudget, repeated } from './retries.ts'
import { type Call, guardedBy, type Stage, through } from './stages.ts'

/** The calls of one back office: with deadlines, a breaker, a bulkhead, and repeats within a budget. Both throw `ApiError`s. */
interface Calls {
  readonly limits: Limits
  /** A read, repeated once where that may help. `read` settles the call, or hands it on; there is none where there is no such data. */
  reading<T>(asking: Asking, read: (call: Call | undefined) => Promise<T>): Promise<T>
  /** A write, which is never repeated. */
  writing(writing: Writing): Promise<Pick<Incoming, 'status' | 'headers'>>
  close(): void
}

export function openCalls(connection: Connection): Calls {
  const { log, onBreaker, onCredentials } = connection
  const limits: Limits = { ...defaultLimits, ...connection.limits }
  const bulkhead = createBulkhead(limits)
  // A bulk response takes minutes to read. It has its own permit, because with a concurrency of 1 it would block all other calls.
  const bulkBulkhead = createBulkhead({ ...limits, concurrency: 1 })
  const wire = openWire(connection, limits.concurrency + 1)
  const budget = makeRetryBudget()
  const breaker = createCircuitBreaker({
    ...limits,
    onChange(state) {
      log?.warn({ state }, 'circuit breaker changed')
      onBreaker?.(state)
    },
  })
  const begin = through(
    // What the breaker keeps back is not logged each time, and takes no place.
    [
      possible,
      guardedBy(breaker, limits.maxOpenMs),
      logged(connection),
      resting(limits.patienceMs),
      limitedBy(({ size }) => (size === 'bulk' ? bulkBulkhead : bulkhead)),
      credentialsTold(onCredentials),
    ],
    attemptOver(wire, connection, limits),
  )
  const deadlineOf = ({ size, signal }: Asking) =>
    AbortSignal.any([AbortSignal.timeout(boundsOf(limits, size).ms), ...(signal ? [signal] : [])])

  return {
    limits,
    async reading(asking, read) {
      const signal = deadlineOf(asking)
      budget.earn()
      const attempt = async () => {
        const call = await begin(asking, signal).catch(unlessNoData)
        try {
          return await read(call)
        } catch (error) {
          const failure = asFailure(error)
          call?.settle(failure)
          throw failure
        }
      }
      return repeated(attempt, { budget, patienceMs: limits.patienceMs, signal }).catch(inOurWords(asking, false))
    },
    async writing(writing) {
      budget.earn()
      const { incoming, settle } = await begin(writing, deadlineOf(writing)).catch(inOurWords(writing, true))
      incoming.discard()
      settle()
      return incoming
    },
    close: () => wire.close(),
  }
}

/** There is no data of whoever cannot be: nobody is asked. */
const possible: Stage = asked => {
  if (!isPath(asked)) throw new Refusal(404, noData, '')
  return () => {}
}

/** "No data" is an answer; every other refusal is thrown. */
function unlessNoData(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== noData) throw error
}

const inOurWords =
  ({ endpoint }: Asking, isWrite: boolean) =>
  (error: unknown): never => {
    throw apiErrorFrom(error, endpoint, isWrite)
  }
