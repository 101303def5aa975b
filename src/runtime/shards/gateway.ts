import { ttlCache } from '../../concurrency/ttl-cache.ts'
import { authCacheTtlMs } from '../../domain/accounts.ts'
import type { Elsewhere, Gate } from '../../http/admission/admit.ts'
import { readService } from '../../store/tenancy/services.ts'
import { type WriteQueue, writeQueue } from '../../writes/fair-queue.ts'
import type { Databases, DataDatabase } from './shards.ts'

/** The gates of data databases, as they are asked for. */
export function elsewhere(databases: Databases, gateOf: (at: DataDatabase, turn: WriteQueue['acquire']) => Gate) {
  const known = new WeakMap<DataDatabase, Elsewhere & { writes: WriteQueue }>()

  function begin(at: DataDatabase) {
    const writes = writeQueue((at.pools?.writes ?? at.db.pool).options.max)
    const services = ttlCache({ ttlMs: authCacheTtlMs, load: id => readService(at.db, Number(id)) })
    const service = (id: number) => services.get(String(id))
    const one = { gate: gateOf(at, writes.acquire), service, writes }
    known.set(at, one)
    return one
  }

  return {
    async of(name: string): Promise<Elsewhere> {
      const at = await databases.open(name)
      return known.get(at) ?? begin(at)
    },
    /** What this process has open, for its figures. */
    reached: () => databases.opened().map(at => ({ ...at, waitingWrites: known.get(at)?.writes.waiting ?? 0 })),
  }
}
