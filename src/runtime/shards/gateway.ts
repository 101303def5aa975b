import { ttlCache } from '../../concurrency/ttl-cache.ts'
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
  const accessByShard = new WeakMap<Shard, ShardAccess & { writes: WriteQueue }>()

  function begin(at: Shard) {
    const writes = writeQueue((at.pools?.writes ?? at.db.pool).options.max)
    const services = ttlCache({ ttlMs: authCacheTtlMs, load: id => readService(at.db, Number(id)) })
    const getService = (id: number) => services.get(String(id))
    const access = { appContext: createContext(at, writes.acquire), service: getService, writes }
    accessByShard.set(at, access)
    return access
  }

  return {
    /** Returns the context of a shard. Throws `DatabaseUnavailable` if it is unavailable. */
    async open(name: string): Promise<ShardAccess> {
      const at = await databases.open(name)
      return accessByShard.get(at) ?? begin(at)
    },
    /** Returns the open shards, for their metrics. */
    opened: () => databases.opened().map(at => ({ ...at, waitingWrites: accessByShard.get(at)?.writes.waiting ?? 0 })),
  }
}
