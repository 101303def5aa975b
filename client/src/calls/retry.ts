import type { ErrorCode } from '../shapes/general.ts'

/**
 * The consequence of a failure. `final`: report it. `retry`: nothing was changed, and a retry may succeed.
 * `reconcile`: the outcome is unknown, and a retry finds out.
 */
export type RetryDecision = 'final' | 'retry' | 'reconcile'

const decisions: Readonly<Record<string, RetryDecision>> = {
  request_timeout: 'retry',
  rate_limited: 'retry',
  concurrent_update: 'retry',
  service_unavailable: 'retry',
  back_office_unavailable: 'retry',
  // An earlier attempt of the same write is still running.
  idempotency_in_progress: 'reconcile',
  outcome_unknown: 'reconcile',
  no_response: 'reconcile',
}

export function decideRetry(code: ErrorCode, status: number | undefined): RetryDecision {
  // A gateway reports that it got no complete response from the service.
  const isGatewayError = code === 'unexpected_response' && (status ?? 0) >= 502 && (status ?? 0) <= 504
  return isGatewayError ? 'reconcile' : (decisions[code] ?? 'final')
}

const baseDelayMs = 250
const maxDelayMs = 10_000

/** Returns the milliseconds until the next attempt: `Retry-After`, or exponential backoff. Both have jitter. */
export function getRetryDelayMs(tries: number, retryAfter: number | undefined): number {
  if (retryAfter !== undefined) return retryAfter * 1_000 + Math.random() * baseDelayMs
  const maxMs = Math.min(maxDelayMs, baseDelayMs * 2 ** tries)
  return maxMs / 2 + (Math.random() * maxMs) / 2
}

/** Returns `Retry-After` in seconds (RFC 9110, section 10.2.3: a number or a date). */
export function parseRetryAfter(header: string | null): number | undefined {
  if (!header) return
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** A longer timer would fire at once. */
const maxTimerMs = 2 ** 31 - 1

/** Resolves after `ms`. Rejects with the signal's reason if it aborts first. */
export function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      },
      Math.min(ms, maxTimerMs),
    )
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
  })
}
