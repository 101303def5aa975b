import { createCircuitBreaker } from '../../../http-client/circuit-breaker.ts'
import { createAttempt } from './attempt.ts'
import { createBulkhead, limitConcurrency } from './bulkhead.ts'
import { type Connection, defaultLimits, getBounds, type Limits } from './connection.ts'
import { translateError } from './errors.ts'
import { Failure, toFailure } from './failure.ts'
import { isValidPath, type RetailRequest, type WriteRequest } from './request.ts'
import { noData, RetailApiError } from './retail-api-error.ts'
import { createRetryBudget, retryOnce } from './retries.ts'
import {
  type Call,
  createPipeline,
  guardWithCircuitBreaker,
  logFailures,
  obeyRetryAfter,
  reportCredentials,
  type Stage,
} from './stages.ts'
import { createTransport, type HttpResponse } from './transport.ts'

/** The calls of one back office, with deadlines, a circuit breaker, bulkheads and a retry budget. Both methods throw `ApiError`. */
interface Calls {
  readonly limits: Limits
  /**
   * Sends a read and retries it once if a retry can help. `consume` reads the response and must finish the call or pass it on.
   * `consume` gets undefined if the back office has no such data.
   */
  read<T>(request: RetailRequest, consume: (call: Call | undefined) => Promise<T>): Promise<T>
  /** Sends a write. A write is never retried. `consume` reads the response; if that fails, the outcome is unknown. */
  write(request: WriteRequest): Promise<Pick<HttpResponse, 'status' | 'headers'>>
  write<T>(request: WriteRequest, consume: (response: HttpResponse) => Promise<T>): Promise<T>
  close(): void
}

export function createCalls(connection: Connection): Calls {
  const { log, onBreaker, onCredentials } = connection
  const limits: Limits = { ...defaultLimits, ...connection.limits }
  const { maxRetryWaitMs } = limits
  const bulkhead = createBulkhead(limits)
  // A bulk response takes minutes to read. It has its own permit, because with a concurrency of 1 it would block all other calls.
  const bulkBulkhead = createBulkhead({ ...limits, concurrency: 1 })
  const transport = createTransport(connection, limits.concurrency + 1)
  const budget = createRetryBudget()
  const breaker = createCircuitBreaker({
    ...limits,
    onChange(state) {
      log?.warn({ state }, 'circuit breaker changed')
      onBreaker?.(state)
    },
  })
  const begin = createPipeline(
    // The circuit breaker comes before the log and the bulkhead: the calls that it rejects are not logged and need no permit.
    [
      rejectInvalidPath,
      guardWithCircuitBreaker(breaker, limits.maxOpenMs),
      logFailures(connection),
      obeyRetryAfter(maxRetryWaitMs),
      limitConcurrency(({ size }) => (size === 'bulk' ? bulkBulkhead : bulkhead)),
      reportCredentials(onCredentials),
    ],
    createAttempt(transport, connection, limits),
  )
  const createDeadline = ({ size, signal }: RetailRequest) =>
    AbortSignal.any([AbortSignal.timeout(getBounds(limits, size).ms), ...(signal ? [signal] : [])])

  return {
    limits,
    async read(request, consume) {
      const signal = createDeadline(request)
      budget.earn()
      const attempt = async () => {
        const call = await begin(request, signal).catch(throwUnlessNoData)
        try {
          return await consume(call)
        } catch (error) {
          const failure = toFailure(error)
          call?.finish(failure)
          throw failure
        }
      }
      return retryOnce(attempt, { budget, maxRetryWaitMs, signal }).catch(throwTranslated(request, false))
    },
    async write<T>(request: WriteRequest, consume?: (response: HttpResponse) => Promise<T>) {
      budget.earn()
      const { response, finish } = await begin(request, createDeadline(request)).catch(throwTranslated(request, true))
      if (!consume) {
        response.discard()
        finish()
        return response
      }
      try {
        const result = await consume(response)
        finish()
        return result
      } catch (cause) {
        const failure = new Failure('lost', 'The response to a write could not be read.', { cause })
        finish(failure)
        return throwTranslated(request, true)(failure)
      }
    },
    close: () => transport.close(),
  }
}

/** Treats a path with an invalid identifier as a record that doesn't exist. No request is sent. */
const rejectInvalidPath: Stage = request => {
  if (!isValidPath(request)) throw new RetailApiError(404, noData, '')
  return () => {}
}

/** Returns undefined for "no data", which is a valid result. Throws any other error. */
function throwUnlessNoData(error: unknown): undefined {
  if (!(error instanceof RetailApiError) || error.code !== noData) throw error
}

const throwTranslated =
  ({ endpoint }: RetailRequest, isWrite: boolean) =>
  (error: unknown): never => {
    throw translateError(error, endpoint, isWrite)
  }
