/**
 * Stops calls to an external system that fails repeatedly.
 * Pattern: circuit breaker with one probe at a time and a doubling open period.
 */

import { backoff, withJitter } from '../concurrency/backoff.ts'

interface CircuitBreakerOptions {
  /** Consecutive failures before the circuit opens. */
  failureThreshold: number
  /** Milliseconds until one probe is let through. Doubles after each failed probe, up to `maxOpenMs`. */
  openMs: number
  maxOpenMs: number
  /** A monotonic clock in milliseconds. Default `performance.now`. */
  now?: () => number
  onChange?: (state: 'open' | 'closed') => void
}

export interface CircuitBreaker {
  /** Returns the milliseconds until the next call may be made. 0 permits the call, whose end must be reported to one of the events. */
  enter(): number
  onSuccess(): void
  onFailure(): void
  /** The call ended without evidence about the external system, for example because the caller aborted it. */
  onIgnored(): void
  /** Opens the circuit for about this long, whatever its state. */
  open(forMs: number): void
  readonly state: 'closed' | 'open' | 'half open'
}

export function createCircuitBreaker({
  failureThreshold,
  openMs,
  maxOpenMs,
  now = () => performance.now(),
  onChange = () => {},
}: CircuitBreakerOptions): CircuitBreaker {
  let failures = 0
  const openPeriods = backoff({ initialMs: openMs, maxMs: maxOpenMs })
  let openUntil: number | undefined
  let isProbing = false

  const open = (forMs: number) => {
    const wasClosed = openUntil === undefined
    // Jitter, so that several processes don't probe at the same time.
    openUntil = now() + withJitter(forMs)
    isProbing = false
    if (wasClosed) onChange('open')
  }
  return {
    enter() {
      if (openUntil === undefined) return 0
      const remainingMs = openUntil - now()
      if (remainingMs > 0) return remainingMs
      if (isProbing) return 1_000
      isProbing = true
      return 0
    },
    onSuccess() {
      failures = 0
      openPeriods.reset()
      isProbing = false
      // A call that was in flight when the circuit opened is as good as a probe.
      if (openUntil === undefined) return
      openUntil = undefined
      onChange('closed')
    },
    onFailure() {
      if (!isProbing && (openUntil !== undefined || ++failures < failureThreshold)) return
      open(openPeriods.next())
    },
    onIgnored() {
      isProbing = false
    },
    open,
    get state() {
      return openUntil === undefined ? 'closed' : openUntil > now() ? 'open' : 'half open'
    },
  }
}
