import type { Logger } from 'pino'
import type { BackOffices } from '../../backoffice/back-offices.ts'
import { perObject, ttlCache } from '../../concurrency/ttl-cache.ts'
import type { Config } from '../../config/config.ts'
import { DatabaseUnavailable } from '../../database/errors.ts'
import { authCacheTtlMs } from '../../domain/accounts.ts'
import type { AppContext, ShardAccess } from '../../http/app-context.ts'
import { findShardUrl, listShards } from '../../store/shards/shards.ts'
import { readService } from '../../store/tenancy/services.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { countRequestConnections, type WriteQueue, writeQueue } from '../../writes/fair-queue.ts'
import type { OpenedDatabase } from '../installation/connect.ts'
import type { Installation } from '../installation/installation.ts'
import { openShardAt } from './open-shard.ts'

/** An open shard, with the back offices of the services in it. */
export interface Shard extends OpenedDatabase {
  name: string
  backOffices: BackOffices
}

/** The shards of an installation (contributing/decisions/0030), each opened on first use. */
export interface Shards {
  names(): Promise<string[]>
  /**
   * Opens a shard, or returns the open one. Throws `DatabaseUnavailable` if it is unavailable. After its URL changes, it returns another value
   * within two seconds.
   */
  open(name: string): Promise<Shard>
  opened(): Shard[]
  close(): Promise<void>
}

/** Milliseconds until a shard that could not be opened is tried again. */
const retryDelayMs = 1_000
/** Milliseconds until the connections to a shard's previous address are closed. */
const graceMs = 30_000

interface ShardEntry {
  url: string
  opening: Promise<Shard>
  opened?: Shard
}

export function createShards(
  config: Config,
  { db: control, keys }: Pick<Installation, 'db' | 'keys'>,
  openBackOffices: (database: OpenedDatabase, log: Logger) => Promise<BackOffices>,
  log: Logger,
): Shards {
  const entries = new Map<string, ShardEntry>()
  const retired = new Map<NodeJS.Timeout, ShardEntry>()
  const urls = ttlCache({ ttlMs: authCacheTtlMs, load: name => findShardUrl(control, keys, name) })
  const unavailable = new Set<string>()

  async function openNow(name: string, url: string): Promise<Shard> {
    const shardLog = log.child({ database: name })
    try {
      const opened = await openShardAt(config, keys, name, url, { onNotice: notice => shardLog.warn(notice) })
      try {
        const backOffices = await openBackOffices(opened, shardLog)
        if (unavailable.delete(name)) shardLog.info('shard available again')
        return { ...opened, name, backOffices }
      } catch (error) {
        await opened.close()
        throw error
      }
    } catch (error) {
      if (!unavailable.has(name)) shardLog.error({ err: error }, 'shard unavailable')
      unavailable.add(name)
      throw new DatabaseUnavailable(error, `The shard ${name} is unavailable.`)
    }
  }

  function openEntry(name: string, url: string): ShardEntry {
    const entry: ShardEntry = { url, opening: openNow(name, url) }
    entries.set(name, entry)
    entry.opening.then(
      opened => {
        entry.opened = opened
      },
      () => setTimeout(() => entries.get(name) === entry && entries.delete(name), retryDelayMs).unref(),
    )
    return entry
  }

  async function close({ opening }: ShardEntry) {
    const opened = await ignoreError(opening, 'shard was never opened')
    opened?.backOffices.close()
    await opened?.close()
  }

  function retire(entry: ShardEntry) {
    const timer = setTimeout(() => {
      retired.delete(timer)
      void close(entry)
    }, graceMs).unref()
    retired.set(timer, entry)
  }

  return {
    names: async () => (await listShards(control)).map(({ name }) => name),
    async open(name) {
      const url = await urls.get(name)
      if (url === undefined) throw new DatabaseUnavailable(undefined, `Shard ${name} not found.`)
      const entry = entries.get(name)
      if (entry?.url === url) return entry.opening
      if (entry) retire(entry)
      return openEntry(name, url).opening
    },
    opened: () => [...entries.values()].flatMap(({ opened }) => opened ?? []),
    async close() {
      for (const timer of retired.keys()) clearTimeout(timer)
      await Promise.all([...entries.values(), ...retired.values()].map(close))
    },
  }
}

/** Creates the gateway to shards, which opens each shard's context when it is first needed. */
export function createShardGateway(
  databases: Shards,
  createContext: (shard: Shard, acquirePermit: WriteQueue['acquire']) => AppContext,
) {
  const getAccess = perObject((shard: Shard) => {
    const writes = writeQueue(countRequestConnections(shard.pools?.writes ?? shard.db.pool))
    const services = ttlCache({ ttlMs: authCacheTtlMs, load: id => readService(shard.db, Number(id)) })
    const getService = (id: number) => services.get(String(id))
    return { appContext: createContext(shard, writes.acquire), service: getService, writes }
  })

  return {
    /** Returns the context of a shard. Throws `DatabaseUnavailable` if it is unavailable. */
    open: async (name: string): Promise<ShardAccess> => getAccess(await databases.open(name)),
    /** Returns the open shards, for their metrics. */
    opened: () => databases.opened().map(shard => ({ ...shard, waitingWrites: getAccess(shard).writes.waiting })),
  }
}
