import { setTimeout as delay } from 'node:timers/promises'
import { Failure } from './failure.ts'
import type { Stage } from './stages.ts'

/** Obeys `Retry-After`: calls wait until the back office may be asked again, and are kept back where that is too long. */
export function resting(patienceMs: number): Stage {
  let until = 0
  return async (_, signal) => {
    const waitMs = until - performance.now()
    if (waitMs > patienceMs) throw new Failure('closed', 'The back office asks for a rest.', { waitMs })
    if (waitMs > 0) await pause(waitMs, signal)
    return error => {
      if (error instanceof Failure && error.kind === 'busy' && error.waitMs)
        until = Math.max(until, performance.now() + error.waitMs)
    }
  }
}

/** Waits that long and a little more, so that not all who wait come back at once. */
export const pause = (ms: number, signal: AbortSignal) =>
  delay(ms + Math.random() * (50 + ms / 5), undefined, { signal }).catch(() => {
    throw new Failure('closed', 'The time was over before the back office could be asked.')
  })
