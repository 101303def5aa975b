import type { Rejection } from '../../../concurrency/fair-queue.ts'
import { type Semaphore, semaphore } from '../../../concurrency/semaphore.ts'
import { createCircuitBreaker } from '../../../http-client/circuit-breaker.ts'
import { ignoreError } from '../../../telemetry/ignored-errors.ts'
import { XmlError } from '../xml/xml.ts'
import { createAttempt } from './attempt.ts'
import { type Connection, defaultLimits, getBounds, type Limits } from './connection.ts'
import { translateError } from './errors.ts'
import { convertXmlError, Failure, isOutage } from './failure.ts'
import { isValidPath, type RetailRequest, type WriteRequest } from './request.ts'
import { noData, RetailApiError } from './retail-api-error.ts'
import {
  type Call,
  createPipeline,
  guardWithCircuitBreaker,
  logFailures,
  obeyRetryAfter,
  pause,
  reportCredentials,
  type Stage,
} from './stages.ts'
import { createTransport, type HttpResponse } from './transport.ts'

/** The calls of one back office, with deadlines, a circuit breaker, bulkheads and a retry budget. Both methods throw `ApiError`. */
interface Calls {
  readonly limits: Limits
  /**
   * Sends a read and retries it once if a retry can help. `consume` reads the response and must end the call with `finish`, or return
   * something that ends it later. `consume` gets undefined if the back office has no such data.
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
          const converted = convertXmlError(error)
          call?.finish(converted)
          throw converted
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

/** Creates the limit of calls in flight to one back office, so that a slow back office doesn't use up all resources. */
export const createBulkhead = ({
  concurrency,
  maxWaiting,
  maxWaitMs,
}: Pick<Limits, 'concurrency' | 'maxWaiting' | 'maxWaitMs'>): Semaphore =>
  semaphore({
    permits: concurrency,
    maxWaiting,
    timeoutMs: maxWaitMs,
    toError: reason => new Failure('closed', waitErrors[reason], { waitMs: 1_000 }),
  })

const waitErrors: Record<Rejection, string> = {
  full: 'too many calls wait for the back office',
  timeout: 'the back office had no free call slot in time',
  aborted: 'the call was cancelled while it waited for a free call slot',
}

/** Lets each call wait for a permit of its bulkhead. The call releases the permit when it ends. */
const limitConcurrency =
  (selectBulkhead: (request: Parameters<Stage>[0]) => Semaphore): Stage =>
  (request, signal) =>
    selectBulkhead(request).acquire(signal)

/** Calls that earn one retry: retries must not double the load on a back office in trouble. */
const callsPerRetry = 10
/** Upper bound of the budget, in calls. */
const maxSavedCalls = 100
/** Budget of a new process, in calls. */
const initialSavedCalls = 30

interface RetryBudget {
  /** Counts a call that is not a retry. */
  earn(): void
  /** Takes one retry out of the budget. Returns false if the budget is exhausted. */
  spend(): boolean
}

/** Creates a budget that limits retries to a tenth of all calls over time. */
export function createRetryBudget(): RetryBudget {
  let savedCalls = initialSavedCalls
  return {
    earn() {
      savedCalls = Math.min(maxSavedCalls, savedCalls + 1)
    },
    spend() {
      if (savedCalls < callsPerRetry) return false
      savedCalls -= callsPerRetry
      return true
    },
  }
}

interface RetryOptions {
  budget: RetryBudget
  /** The longest wait before the retry, in milliseconds. */
  maxRetryWaitMs: number
  signal: AbortSignal
}

/** Runs `work`, and once more if a retry can help and the budget permits it. */
async function retryOnce<T>(work: () => Promise<T>, { budget, maxRetryWaitMs, signal }: RetryOptions): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const canRetry = error instanceof Failure && !signal.aborted && canRetryHelp(error, maxRetryWaitMs)
    if (!canRetry || !budget.spend()) throw error
    // If the deadline passes during the pause, the retry reports it.
    await ignoreError(pause(error.waitMs ?? 100, signal), 'retry delay was cut short')
    return work()
  }
}

const canRetryHelp = (failure: Failure, maxRetryWaitMs: number) =>
  (isOutage(failure) && (failure.waitMs ?? 0) <= maxRetryWaitMs) || failure.cause instanceof XmlError
