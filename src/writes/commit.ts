import { setTimeout as delay } from 'node:timers/promises'
import type { Keys } from '../crypto/keys.ts'
import type { Database, Db } from '../database/db.ts'
import { CommitUnknown } from '../database/errors.ts'
import { isContention } from '../database/pg/contention.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { Held, untilFree } from './locks.ts'

/** Where writes are carried out. */
export interface Site {
  db: Database
  keys: Keys
  /** Waits until a transaction of the service may have a connection; the answer gives it back. */
  turn?: (service: Service) => Promise<() => void>
}

/** How often a transaction is begun that others stand in the way of, or whose commit nobody knows. */
const attempts = 4
/** Milliseconds that something which another one holds is waited for. */
const patienceMs = 5_000

/**
 * Runs a short transaction of a service when its turn has come, and anew where another one stood in its way, or had what it takes. With
 * `isResumable` it can tell whether it was committed, and is begun anew where nobody knows. `before`: what the attempt before ended in. Throws
 * `concurrent_update` in the end.
 */
export async function transact<T>(
  site: Pick<Site, 'db' | 'turn'>,
  service: Service,
  work: (tx: Db, before: unknown) => Promise<T>,
  { isResumable = false }: { isResumable?: boolean } = {},
): Promise<T> {
  let before: unknown
  const latest = performance.now() + patienceMs
  const inTurn = async () => {
    const end = await site.turn?.(service)
    return site.db.transaction(tx => work(tx, before)).finally(end)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTurn()
    } catch (error) {
      before = error
      if (error instanceof Held) {
        if (performance.now() > latest) throw inTheWay()
        await untilFree(service, error.names)
        // Nothing was in the way of the transaction itself.
        attempt--
        continue
      }
      const isContended = isContention(error)
      if (!isContended && !(isResumable && error instanceof CommitUnknown)) throw error
      if (attempt === attempts) throw isContended ? inTheWay() : error
      await delay(attempt * (isContended ? 10 + Math.random() * 40 : 500))
    }
  }
}

export const inTheWay = () => new ApiError('concurrent_update', undefined, { retryAfter: 1 })
