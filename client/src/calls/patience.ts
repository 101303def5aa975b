import type { ErrorCode } from '../shapes/general.ts'

/**
 * What follows from a failure. `final`: it stands. `again`: nothing was done, and a repeat may succeed. `settle`: whether it was
 * done is not known, and a repeat tells.
 */
export type Verdict = 'final' | 'again' | 'settle'

const verdicts: Readonly<Record<string, Verdict>> = {
  request_timeout: 'again',
  rate_limited: 'again',
  concurrent_update: 'again',
  service_unavailable: 'again',
  back_office_unavailable: 'again',
  // An earlier try of the same write is still being carried out.
  idempotency_in_progress: 'settle',
  outcome_unknown: 'settle',
  no_answer: 'settle',
}

export function verdictOn(code: ErrorCode, status: number | undefined): Verdict {
  // A gateway in between speaks for a service that it could not hear to the end.
  const betweenUs = code === 'odd_answer' && (status ?? 0) >= 502 && (status ?? 0) <= 504
  return betweenUs ? 'settle' : (verdicts[code] ?? 'final')
}

const firstMs = 250
const longestMs = 10_000

/** How long to wait before the next try: what the service says, else longer each time; never all clients at once. */
export function waitBefore(tries: number, retryAfter: number | undefined): number {
  if (retryAfter !== undefined) return retryAfter * 1_000 + Math.random() * firstMs
  const most = Math.min(longestMs, firstMs * 2 ** tries)
  return most / 2 + (Math.random() * most) / 2
}

/** `Retry-After` in seconds (RFC 9110, section 10.2.3: a number, or a date). */
export function retryAfterOf(header: string | null): number | undefined {
  if (!header) return
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** A longer one would end at once. */
const longestTimer = 2 ** 31 - 1

/** Resolves after so long; rejects with the reason of a signal that is given up by. */
export function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      },
      Math.min(ms, longestTimer),
    )
    signal?.addEventListener('abort', giveUp, { once: true })
    if (signal?.aborted) giveUp()
  })
}
