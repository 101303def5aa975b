import type { Logger } from 'pino'
import type { Db } from '../database/db.ts'
import { addCallMinutes, type CallMinute } from '../store/stats/back-office-calls.ts'

/** Minutes of services that wait for the database: what comes on top is not counted. */
const mostWaiting = 10_000

/** Counts the calls of back offices that this process makes, by their minutes, and writes them down when it is told to. */
export function countCalls(db: Db, log: Logger) {
  let counted = new Map<string, CallMinute>()

  function add(more: CallMinute) {
    const key = `${more.serviceId} ${more.minute}`
    const known = counted.get(key)
    if (!known && counted.size >= mostWaiting) return
    counted.set(key, {
      serviceId: more.serviceId,
      minute: more.minute,
      calls: (known?.calls ?? 0) + more.calls,
      failed: (known?.failed ?? 0) + more.failed,
      milliseconds: (known?.milliseconds ?? 0) + more.milliseconds,
      slowest: Math.max(known?.slowest ?? 0, more.slowest),
    })
  }

  return {
    /** A call has ended. */
    note(serviceId: number, milliseconds: number, hasFailed: boolean) {
      const minute = `${new Date().toISOString().slice(0, 16)}Z`
      add({ serviceId, minute, calls: 1, failed: hasFailed ? 1 : 0, milliseconds, slowest: milliseconds })
    },
    async write() {
      if (!counted.size) return
      const minutes = [...counted.values()]
      counted = new Map()
      try {
        await addCallMinutes(db, minutes)
      } catch (error) {
        // While the database is away they wait.
        minutes.forEach(add)
        log.debug({ err: error }, 'back-office call counts not stored, will retry')
      }
    },
  }
}
