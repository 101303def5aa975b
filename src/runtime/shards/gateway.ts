import { perObject, ttlCache } from '../../concurrency/ttl-cache.ts'
import { authCacheTtlMs } from '../../domain/accounts.ts'
import type { AppContext, ShardAccess } from '../../http/app-context.ts'
import { readService } from '../../store/tenancy/services.ts'
import { type WriteQueue, writeQueue } from '../../writes/fair-queue.ts'
import type { Shard, Shards } from './shards.ts'

/** Creates the gateway to shards, which opens each shard's context when it is first needed. */
export function createShardGateway(
  databases: Shards,
  createContext: (shard: Shard, acquirePermit: WriteQueue['acquire']) => AppContext,
) {
  const getAccess = perObject((at: Shard) => {
    const writes = writeQueue((at.pools?.writes ?? at.db.pool).options.max)
    const services = ttlCache({ ttlMs: authCacheTtlMs, load: id => readService(at.db, Number(id)) })
    const getService = (id: number) => services.get(String(id))
    return { appContext: createContext(at, writes.acquire), service: getService, writes }
  })

  return {
    /** Returns the context of a shard. Throws `DatabaseUnavailable` if it is unavailable. */
    open: async (name: string): Promise<ShardAccess> => getAccess(await databases.open(name)),
    /** Returns the open shards, for their metrics. */
    opened: () => databases.opened().map(at => ({ ...at, waitingWrites: getAccess(at).writes.waiting })),
  }
}
