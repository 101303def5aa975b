import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../database/db.ts'
import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import {
  type CallCost,
  createBudget,
  type PriorityClass,
  recordCallCost,
  reservePoints,
} from '../../store/ecommerce/budget.ts'

/**
 * The rate-limit budget of one connection, which all processes share. Pattern: hierarchical token bucket in one row. A call reserves its
 * predicted cost first, so that calls of one class never use the points of another, and the platform has no reason to throttle.
 */
export interface Budget {
  /** Waits until the points are reserved. Throws `PlatformFailure` if that would take too long. */
  reserve(priority: PriorityClass, points: number, signal: AbortSignal): Promise<void>
  /** Returns unused points after a response, and adopts the platform's numbers. */
  settle(priority: PriorityClass, cost: CallCost): Promise<void>
}

const maxWaitSeconds = 120
/** Unused points of other calls are often returned before the missing points are restored. */
const maxPauseMs = 2_000

export function openBudget(db: Database, service: Service, connectionId: string): Budget {
  return {
    async reserve(priority, points, signal) {
      const started = performance.now()
      for (;;) {
        const seconds = await reservePoints(db, service, connectionId, priority, points)
        if (seconds === 0) return
        if (seconds === undefined) {
          await createBudget(db, service, connectionId)
          continue
        }
        if (performance.now() - started > maxWaitSeconds * 1_000)
          throw new PlatformFailure('unavailable', `No points of the rate limit were free for ${maxWaitSeconds} s.`)
        await delay(Math.min(seconds * 1_000 + 10, maxPauseMs), undefined, { signal })
      }
    },
    async settle(priority, cost) {
      await recordCallCost(db, service, connectionId, priority, cost)
    },
  }
}
