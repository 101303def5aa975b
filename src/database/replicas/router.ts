import { sleep } from '../../concurrency/backoff.ts'

import { type Database, type Db, sql } from '../db.ts'
import { type Connection, parseServers } from '../endpoints.ts'
import { currentLsn, parseWalPosition, type WalPosition } from './lsn.ts'
import { createLsnHistory } from './lsn-history.ts'
import { openReplica, type Replica } from './replica.ts'

/** The primary with its replicas. Reads with a required LSN go to a replica that has replayed it. */
export interface Replicated {
  db: Pick<Db, 'rows' | 'row' | 'lsn'>
  replicas: readonly Replica[]
  close(): Promise<unknown>
}

interface RouterOptions {
  /** Connections to each. */
  max: number
  pooled: boolean
  onNotice: (notice: string) => void
}

/** Milliseconds between two readings of the primary's LSN. */
const probeIntervalMs = 1_000

/** Opens the replicas that a URL names, without waiting. An unreachable replica is probed again later. */
export function openReplicas(primary: Database, at: Connection, opening: RouterOptions): Replicated {
  const trail = createLsnHistory()
  const replicas = parseServers(at).map(server => openReplica(server, { ...opening, trail }))
  const ending = new AbortController()

  async function watchPrimary() {
    while (!ending.signal.aborted) {
      // The LSN of an unavailable primary doesn't change.
      await primary.row<{ lsn: string }>(sql`select ${currentLsn} as lsn`).then(
        row => row && trail.add(parseWalPosition(row.lsn)),
        () => {},
      )
      await sleep(probeIntervalMs, { ref: false, signal: ending.signal })
    }
  }
  void watchPrimary()

  let turn = 0
  /** Returns the least busy replica, in turn if several are equally busy. */
  function choose(position: WalPosition): Replica | undefined {
    turn++
    const able = replicas.filter(replica => replica.mayHave(position))
    const least = Math.min(...able.map(({ busy }) => busy))
    const idle = able.filter(({ busy }) => busy === least)
    return idle[turn % idle.length]
  }

  async function rows<T extends object>(...asked: Parameters<Db['rows']>): Promise<T[]> {
    const [, { lsn } = {}] = asked
    const needed = lsn === undefined ? undefined : parseWalPosition(lsn)
    const found = needed && (await choose(needed)?.read(needed, db => db.rows<T>(...asked)))
    return found ? found.value : primary.rows<T>(...asked)
  }
  return {
    db: {
      lsn: currentLsn,
      rows,
      row: async <T extends object>(...asked: Parameters<Db['row']>) => (await rows<T>(...asked))[0],
    },
    replicas,
    async close() {
      ending.abort()
      await Promise.all(replicas.map(replica => replica.close()))
    },
  }
}
