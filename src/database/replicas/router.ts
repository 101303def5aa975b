import { sleep } from '../../concurrency/backoff.ts'

import { type Database, type Db, sql } from '../db.ts'
import { type Connection, serversIn } from '../endpoints.ts'
import { currentPosition, type Position, positionIn } from './lsn.ts'
import { trailOf } from './lsn-history.ts'
import { openReplica, type Replica } from './replica.ts'

/** The primary with its replicas: reads that say what they need are answered by one that has it. */
export interface Replicated {
  db: Pick<Db, 'rows' | 'row' | 'position'>
  replicas: readonly Replica[]
  close(): Promise<unknown>
}

interface Opening {
  /** Connections to each. */
  max: number
  pooled: boolean
  onNotice: (notice: string) => void
}

/** Milliseconds between two looks at where the primary is. */
const lookMs = 1_000

/** Opens the replicas that a URL names. One that is not there is asked later; nobody waits for it. */
export function withReplicas(primary: Database, at: Connection, opening: Opening): Replicated {
  const trail = trailOf()
  const replicas = serversIn(at).map(server => openReplica(server, { ...opening, trail }))
  const ending = new AbortController()

  async function watchPrimary() {
    while (!ending.signal.aborted) {
      // While it is away it goes nowhere.
      await primary.row<{ position: string }>(sql`select ${currentPosition} as position`).then(
        found => found && trail.add(positionIn(found.position)),
        () => {},
      )
      await sleep(lookMs, { ref: false, signal: ending.signal })
    }
  }
  void watchPrimary()

  let turn = 0
  /** The one that is least busy, of equal ones each in turn. */
  function choose(position: Position): Replica | undefined {
    turn++
    const able = replicas.filter(replica => replica.mayHave(position))
    const least = Math.min(...able.map(({ busy }) => busy))
    const idle = able.filter(({ busy }) => busy === least)
    return idle[turn % idle.length]
  }

  async function rows<T extends object>(...asked: Parameters<Db['rows']>): Promise<T[]> {
    const [, { position } = {}] = asked
    const needed = position === undefined ? undefined : positionIn(position)
    const found = needed && (await choose(needed)?.answer(needed, db => db.rows<T>(...asked)))
    return found ? found.value : primary.rows<T>(...asked)
  }
  return {
    db: {
      position: currentPosition,
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
