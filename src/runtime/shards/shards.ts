import type { Logger } from 'pino'
import { type BackOffices, openBackOffices } from '../../backoffice/back-offices.ts'
import { ttlCache } from '../../concurrency/ttl-cache.ts'
import { backOfficeSettings, type Config } from '../../config/config.ts'
import { DatabaseAway } from '../../database/errors.ts'
import { authCacheTtlMs } from '../../domain/accounts.ts'
import { databaseUrl, listDatabases } from '../../store/shards/shards.ts'
import type { OpenedDatabase } from '../installation/connect.ts'
import type { Installation } from '../installation/installation.ts'
import { openAt } from './reach-shard.ts'

/** A data database as this process has it open, with what stands behind the services in it. */
export interface Shard extends OpenedDatabase {
  name: string
  offices: BackOffices
}

/** The data databases of an installation (contributing/decisions/0030), each opened when it is first asked for. */
export interface Shards {
  names(): Promise<string[]>
  /**
   * Throws `DatabaseAway` while the database cannot be worked with. Within two seconds of a change of its address it returns another value.
   */
  open(name: string): Promise<Shard>
  /** The databases that are open. */
  opened(): Shard[]
  close(): Promise<void>
}

/** Milliseconds until a database that could not be opened is tried again. */
const againMs = 1_000
/** Milliseconds until the connections to a database's former address are ended. */
const graceMs = 30_000

interface Known {
  url: string
  opening: Promise<Shard>
  opened?: Shard
}

export function createShards(
  config: Config,
  { db: control, keys }: Pick<Installation, 'db' | 'keys'>,
  log: Logger,
): Shards {
  const known = new Map<string, Known>()
  const leaving = new Map<NodeJS.Timeout, Known>()
  const urls = ttlCache({ ttlMs: authCacheTtlMs, load: name => databaseUrl(control, keys, name) })
  const away = new Set<string>()

  async function openNow(name: string, url: string): Promise<Shard> {
    const ownLog = log.child({ database: name })
    try {
      const opened = await openAt(config, keys, name, url, { onNotice: notice => ownLog.warn(notice) })
      try {
        const offices = await openBackOffices({
          db: opened.db,
          keys,
          defaults: backOfficeSettings(config),
          log: ownLog,
        })
        if (away.delete(name)) ownLog.info('The data database can be worked with again.')
        return { ...opened, name, offices }
      } catch (error) {
        await opened.close()
        throw error
      }
    } catch (error) {
      if (!away.has(name)) ownLog.error({ err: error }, 'The data database cannot be worked with.')
      away.add(name)
      throw new DatabaseAway(error, `The database ${name} cannot be worked with.`)
    }
  }

  function begin(name: string, url: string): Known {
    const one: Known = { url, opening: openNow(name, url) }
    known.set(name, one)
    one.opening.then(
      opened => {
        one.opened = opened
      },
      () => setTimeout(() => known.get(name) === one && known.delete(name), againMs).unref(),
    )
    return one
  }

  async function end({ opening }: Known) {
    const opened = await opening.catch(() => undefined)
    opened?.offices.close()
    await opened?.close()
  }

  function retire(one: Known) {
    const timer = setTimeout(() => {
      leaving.delete(timer)
      void end(one)
    }, graceMs).unref()
    leaving.set(timer, one)
  }

  return {
    names: async () => (await listDatabases(control)).map(({ name }) => name),
    async open(name) {
      const url = await urls.get(name)
      if (url === undefined) throw new DatabaseAway(undefined, `There is no database ${name}.`)
      const found = known.get(name)
      if (found?.url === url) return found.opening
      if (found) retire(found)
      return begin(name, url).opening
    },
    opened: () => [...known.values()].flatMap(({ opened }) => opened ?? []),
    async close() {
      for (const timer of leaving.keys()) clearTimeout(timer)
      await Promise.all([...known.values(), ...leaving.values()].map(end))
    },
  }
}
