import { sleep } from '../../concurrency/backoff.ts'

import { type Database, type Db, sql } from '../db.ts'
import { type Connection, parseServers } from '../endpoints.ts'
import { currentLsn, type Lsn, parseLsn } from './lsn.ts'
import { createLsnHistory } from './lsn-history.ts'
import { openReplica, type Replica } from './replica.ts'

/** The primary with its replicas. Reads with a required LSN go to a replica that has replayed it. */
export interface Replicated {
  db: Pick<Db, 'rows' | 'row' | 'lsn'>
  replicas: readonly Replica[]
  close(): Promise<unknown>
}

interface RouterOptions {
  /** Maximum number of connections to each replica. */
  max: number
  pooled: boolean
  onNotice: (notice: string) => void
}

/** Milliseconds between two readings of the primary's LSN. */
const probeIntervalMs = 1_000

/** Opens the replicas that a URL names, without waiting. An unreachable replica is probed again later. */
export function openReplicas(primary: Database, connection: Connection, options: RouterOptions): Replicated {
  const history = createLsnHistory()
  const replicas = parseServers(connection).map(server => openReplica(server, { ...options, history }))
  const shutdown = new AbortController()

  async function watchPrimary() {
    while (!shutdown.signal.aborted) {
      // The LSN of an unavailable primary doesn't change.
      await primary.row<{ lsn: string }>(sql`select ${currentLsn} as lsn`).then(
        row => row && history.add(parseLsn(row.lsn)),
        () => {},
      )
      await sleep(probeIntervalMs, { ref: false, signal: shutdown.signal })
    }
  }
  void watchPrimary()

  let choices = 0
  /** Returns the least busy replica, in turn if several are equally busy. */
  function choose(lsn: Lsn): Replica | undefined {
    choices++
    const candidates = replicas.filter(replica => replica.mayHave(lsn))
    const least = Math.min(...candidates.map(({ busy }) => busy))
    const idle = candidates.filter(({ busy }) => busy === least)
    return idle[choices % idle.length]
  }

  async function rows<T extends object>(...args: Parameters<Db['rows']>): Promise<T[]> {
    const [, { lsn } = {}] = args
    const required = lsn === undefined ? undefined : parseLsn(lsn)
    const result = required && (await choose(required)?.read(required, db => db.rows<T>(...args)))
    return result ? result.value : primary.rows<T>(...args)
  }
  return {
    db: {
      lsn: currentLsn,
      rows,
      row: async <T extends object>(...args: Parameters<Db['row']>) => (await rows<T>(...args))[0],
    },
    replicas,
    async close() {
      shutdown.abort()
      await Promise.all(replicas.map(replica => replica.close()))
    },
  }
}
