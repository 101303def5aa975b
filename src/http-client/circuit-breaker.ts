import { Failure, isOutage } from '../backoffice/apparel21/client/failure.ts'
import type { Stage } from '../backoffice/apparel21/client/stages.ts'
import { backoff, withJitter } from '../concurrency/backoff.ts'

/** Keeps calls from a back office that does not answer. */
interface Breaker {
  /** Milliseconds until the next attempt; 0: go ahead, and say how it went. While it is half open, one may. */
  enter(): number
  passed(): void
  failed(): void
  /** Went ahead, and came to nothing that says anything of the back office. */
  gaveUp(): void
  /** Opens it for so long, whatever was before. */
  open(forMs: number): void
  readonly state: 'closed' | 'open' | 'half open'
}

interface Settings {
  breakerFailures: number
  openMs: number
  mostOpenMs: number
  now?: () => number
  onChange?: (state: 'open' | 'closed') => void
}

/**
 * Opens after so many failures in a row. When its time is over one call may try: if that fails it stays open for twice as long, a
 * little more or less so that several processes do not try at once.
 */
export function makeBreaker({
  breakerFailures,
  openMs,
  mostOpenMs,
  now = () => performance.now(),
  onChange = () => {},
}: Settings): Breaker {
  let failures = 0
  const openPeriods = backoff({ initialMs: openMs, maxMs: mostOpenMs })
  let openUntil: number | undefined
  let probing = false

  const open = (forMs: number) => {
    const was = openUntil
    openUntil = now() + withJitter(forMs, 0.2)
    probing = false
    if (was === undefined) onChange('open')
  }
  return {
    enter() {
      if (openUntil === undefined) return 0
      const left = openUntil - now()
      if (left > 0) return left
      if (probing) return 1_000
      probing = true
      return 0
    },
    passed() {
      failures = 0
      openPeriods.reset()
      probing = false
      // One that was under way when it opened says as much as a probe.
      if (openUntil === undefined) return
      openUntil = undefined
      onChange('closed')
    },
    failed() {
      const wasProbe = probing
      if (!wasProbe && (openUntil !== undefined || ++failures < breakerFailures)) return
      open(openPeriods.next())
    },
    gaveUp() {
      probing = false
    },
    open,
    get state() {
      return openUntil === undefined ? 'closed' : openUntil > now() ? 'open' : 'half open'
    },
  }
}

/** Keeps calls back while the breaker is open, and tells it how the others end. Credentials that are refused open it at once. */
export const guardedBy =
  (breaker: Breaker, mostOpenMs: number): Stage =>
  ({ signal }) => {
    const waitMs = breaker.enter()
    if (waitMs > 0) throw new Failure('closed', 'The back office is given a rest.', { waitMs })
    return error => {
      const failure = error instanceof Failure ? error : undefined
      if (failure?.kind === 'denied') breaker.open(failure.waitMs ?? mostOpenMs)
      else if (failure?.kind === 'closed' || signal?.aborted) breaker.gaveUp()
      else if (failure && isOutage(failure)) breaker.failed()
      else breaker.passed()
    }
  }
