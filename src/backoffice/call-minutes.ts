import type { Logger } from 'pino'
import type { Db } from '../database/db.ts'
import { addCallMinutes, type CallMinute } from '../store/stats/back-office-calls.ts'

/** Service minutes that wait for the database. Further ones are not counted. */
const maxPendingMinutes = 10_000

/** Counts the back-office calls of this process by service and minute, until `write` stores the counts. */
export function countCalls(db: Db, log: Logger) {
  let pending = new Map<string, CallMinute>()

  function add(minute: CallMinute) {
    const key = `${minute.serviceId} ${minute.minute}`
    const sum = pending.get(key)
    if (!sum && pending.size >= maxPendingMinutes) return
    pending.set(key, {
      serviceId: minute.serviceId,
      minute: minute.minute,
      calls: (sum?.calls ?? 0) + minute.calls,
      failed: (sum?.failed ?? 0) + minute.failed,
      milliseconds: (sum?.milliseconds ?? 0) + minute.milliseconds,
      slowest: Math.max(sum?.slowest ?? 0, minute.slowest),
    })
  }

  return {
    count(serviceId: number, milliseconds: number, hasFailed: boolean) {
      const minute = `${new Date().toISOString().slice(0, 16)}Z`
      add({ serviceId, minute, calls: 1, failed: hasFailed ? 1 : 0, milliseconds, slowest: milliseconds })
    },
    async write() {
      if (!pending.size) return
      const minutes = [...pending.values()]
      pending = new Map()
      try {
        await addCallMinutes(db, minutes)
      } catch (error) {
        minutes.forEach(add)
        log.debug({ err: error }, 'back-office call counts not stored, will retry')
      }
    },
  }
}
