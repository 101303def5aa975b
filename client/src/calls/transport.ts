import { createError, TillbridgeError } from './errors.ts'
import { type Fetch, findError, type HttpResponse, type Request, sendOnce } from './http.ts'
import { createRateLimiter } from './rate-limit.ts'
import { decideRetry, delay, getRetryDelayMs } from './retry.ts'

/** The connection to one service. */
export interface Connection {
  /** The base URL, such as `https://api.example.com`. */
  url: string
  /** The account's API key: base64 of username and password. */
  apiKey: string
  /** The name of one of the account's services. */
  service: string
  /** Sends requests. Default: the runtime's `fetch`. */
  fetch?: Fetch | undefined
  /** Milliseconds per attempt. Default 30,000. */
  timeoutMs?: number | undefined
  /** Milliseconds for which a call without effect is retried. Default 60,000. */
  retryTimeoutMs?: number | undefined
  /** Milliseconds for which a write with an unknown outcome is retried. Default 120,000. */
  reconcileTimeoutMs?: number | undefined
}

/** The retry limits of one call, and its abort signal. */
export interface RetryOptions {
  signal?: AbortSignal | undefined
  retryTimeoutMs?: number | undefined
  reconcileTimeoutMs?: number | undefined
}

export type Send = (request: Request, options: RetryOptions) => Promise<HttpResponse>

/**
 * Sends a request until its response is final. All attempts of a write share one idempotency key, so it takes effect once.
 * A write without a key is idempotent.
 */
export function createTransport(connection: Connection): Send {
  const { url, apiKey, service, timeoutMs = 30_000 } = connection
  const fetch = connection.fetch ?? ((target, init) => globalThis.fetch(target, init))
  const origin = url.replace(/\/+$/, '')
  const own = { authorization: `Basic ${apiKey}`, 'x-service-name': service, accept: 'application/json' }
  const limiter = createRateLimiter()

  return async (request, options) => {
    const { signal, retryTimeoutMs = connection.retryTimeoutMs ?? 60_000 } = options
    const { reconcileTimeoutMs = connection.reconcileTimeoutMs ?? 120_000 } = options
    const complete = { ...request, headers: { ...own, ...request.headers } }
    // Throws for an invalid header at once. `fetch` would report it like a network failure.
    new Headers(complete.headers)
    const startedAt = Date.now()
    let isUnknown = false
    for (let attempts = 0; ; attempts++) {
      const delayMs = limiter.getDelayMs(request)
      if (delayMs > 0 && Date.now() + delayMs <= startedAt + retryTimeoutMs) await delay(delayMs, signal)
      const result = await attempt(complete, signal)
      if (!(result instanceof TillbridgeError)) return result
      const decision = decideRetry(result.code, result.status)
      if (decision === 'final')
        throw isUnknown && leavesOutcomeOpen(request, result) ? createOutcomeUnknown(request, result) : result
      if (decision === 'reconcile' && request.method !== 'GET') isUnknown = true
      const waitMs = getRetryDelayMs(attempts, result.retryAfter)
      const until = startedAt + (isUnknown ? Math.max(reconcileTimeoutMs, retryTimeoutMs) : retryTimeoutMs)
      if (Date.now() + waitMs > until) throw isUnknown ? createOutcomeUnknown(request, result) : result
      await delay(waitMs, signal)
    }
  }

  /** Sends the request once. Returns a failure that may be retried, and throws everything else. */
  async function attempt(request: Request, signal: AbortSignal | undefined): Promise<HttpResponse | TillbridgeError> {
    try {
      const response = await sendOnce(fetch, origin + request.path, request, timeoutMs, signal)
      limiter.update(request, response)
      return findError(response, getIdempotencyKey(request)) ?? response
    } catch (error) {
      if (error instanceof TillbridgeError) return error
      throw error
    }
  }
}

const getIdempotencyKey = ({ headers }: Request) => headers['idempotency-key']

const createOutcomeUnknown = (request: Request, cause: TillbridgeError) =>
  createError('outcome_unknown', undefined, {
    cause,
    idempotencyKey: getIdempotencyKey(request),
    retryAfter: cause.retryAfter,
  })

/** True if an error says nothing about the outcome of an earlier attempt. */
function leavesOutcomeOpen({ method }: Request, { code, status = 0 }: TillbridgeError): boolean {
  // Our own earlier attempt may have changed or deleted the record.
  if (status === 412 || (method === 'DELETE' && status === 404)) return true
  // The service didn't look up the key, or not completely.
  return status >= 500 || status === 401 || status === 429 || codesBeforeTheWrite.has(code)
}

const codesBeforeTheWrite: ReadonlySet<string> = new Set([
  'unexpected_response',
  'certificate_rejected',
  'service_not_assigned',
  'insufficient_role',
])
