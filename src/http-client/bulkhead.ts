import type { Limits } from '../backoffice/apparel21/client/connection.ts'
import { Failure } from '../backoffice/apparel21/client/failure.ts'
import type { Stage } from '../backoffice/apparel21/client/stages.ts'

/** Bounds what is under way with one back office, so that a slow one does not take everything. */
interface Bulkhead {
  /** Waits for a place; the answer gives it back. Throws a `Failure` where too many wait, or it takes too long. */
  enter(signal: AbortSignal): Promise<() => void>
  readonly busy: number
}

export function makeBulkhead({
  concurrency,
  waiting: mostWaiting,
  waitingMs,
}: Pick<Limits, 'concurrency' | 'waiting' | 'waitingMs'>): Bulkhead {
  const waiting = new Set<() => void>()
  let busy = 0

  const leave = () => {
    let left = false
    return () => {
      if (left) return
      left = true
      const [next] = waiting
      if (!next) {
        busy--
        return
      }
      // The place goes over to who waits longest.
      waiting.delete(next)
      next()
    }
  }
  return {
    async enter(signal) {
      if (busy < concurrency) {
        busy++
        return leave()
      }
      if (waiting.size >= mostWaiting) throw new Failure('closed', 'Too many calls wait.', { waitMs: 1_000 })
      await new Promise<void>((resolve, reject) => {
        const give = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', giveUp)
          resolve()
        }
        const giveUp = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', giveUp)
          waiting.delete(give)
          reject(new Failure('closed', 'No place was free in time.', { waitMs: 1_000 }))
        }
        const timer = setTimeout(giveUp, waitingMs)
        if (signal.aborted) return giveUp()
        waiting.add(give)
        signal.addEventListener('abort', giveUp, { once: true })
      })
      return leave()
    },
    get busy() {
      return busy
    },
  }
}

/** Has calls wait for a place, each at its own bulkhead, which they give back at their end. */
export const inTurn =
  (bulkheadOf: (asked: Parameters<Stage>[0]) => Bulkhead): Stage =>
  (asked, signal) =>
    bulkheadOf(asked).enter(signal)
