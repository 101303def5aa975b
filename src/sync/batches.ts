import type { Database } from '../database/db.ts'
import type { Feed, FeedRows, Portion, RowKind } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { addTaken, note } from '../import/pipeline/counts.ts'
import { takeIn } from '../import/pipeline/ingest-rows.ts'
import type { Violation } from '../import/pipeline/violations.ts'
import type { AskedAfter } from '../store/customers/customers.ts'
import type { List } from '../store/lists/change-timestamp.ts'
import { beginInitialLoad, type InitialLoad } from '../store/lists/initial-load.ts'
import { analyzeGrownTables } from '../store/lists/statistics.ts'
import { removeRewardAccounts } from '../store/rewards/removal.ts'
import { addVisits, noteVisited } from '../store/sync/refreshes.ts'
import type { Hold } from '../store/sync/runs.ts'
import { noteSeen, type Tally } from '../store/sync/sync.ts'
import { intakes, type PullIntake } from './ingest.ts'

/** Rows of a transaction. */
const rowsAtOnce = 1_000

/** Seconds after which a record is visited again of which the database has refused something: what that contradicts may have come, or gone, by then. */
const againSeconds = 3_600

/** A run of a feed, under way. */
export interface Run {
  db: Database
  service: Service
  feed: Feed
  hold: Hold
  tally: Tally
  /** Shows that the run lives; throws where another run has taken over. */
  keep(): Promise<void>
  isFull: boolean
  since: string | null | undefined
  signal: AbortSignal
  /** New rows of each kind, and at how many of them the planner was told of them. */
  inserted: Map<RowKind, { rows: number; told: number }>
  /** The lists that it has brought something of, each with its first load where it is that. */
  loads: Map<List, InitialLoad | undefined>
}

/**
 * Puts a portion in; a visit is done when all that it brought is in. Returns which records were left as they are, since they have changed
 * after it was asked for.
 */
export async function put(portion: Portion, run: Run): Promise<string[]> {
  const { rows = {}, seen = [], refused = [], goneAccounts = [], visits = [], visited, askedAfter } = portion
  const { db, service, feed, hold, tally } = run
  const newer = new Set<string>()
  const asked = askedAfter === undefined ? undefined : { moment: askedAfter, onNewer: (id: string) => newer.add(id) }
  const refusedBefore = tally.refused
  if (goneAccounts.length) tally.removed += await removeRewardAccounts(db, service, goneAccounts)
  for (const kind of Object.keys(intakes) as RowKind[]) await putRows(kind, rows[kind] ?? [], run, asked)
  const isTaken = tally.refused === refusedBefore
  for (const { list, ids } of seen) await noteSeen(db, service, hold, list, ids)
  for (const { feed: other, due } of visits) if (due.length) await addVisits(db, service, other, due)
  if (visited)
    await noteVisited(db, service, feed.name, visited, {
      told: isTaken && !refused.length ? visited.at : undefined,
      earlierBySeconds: isTaken ? 0 : Math.max(0, (feed.revisitSeconds ?? 0) - againSeconds),
    })
  tally.read += refused.length
  tally.refused += refused.length
  for (const reason of refused) note(tally.notes, reason)
  return [...newer]
}

async function putRows<K extends RowKind>(kind: K, rows: readonly FeedRows[K][], run: Run, asked?: AskedAfter) {
  const { db, service, hold, tally, inserted, loads } = run
  if (!rows.length) return
  const intake: PullIntake<K> = intakes[kind]
  const { shows, list, writeAskedAfter, write } = intake
  if (list && !loads.has(list)) loads.set(list, await beginInitialLoad(db, service, list))
  const refuse = (_at: number, { note: what }: Violation, mended: boolean) =>
    note(tally.notes, `${what}: ${mended ? 'kept without it' : 'refused'}`)
  const { inputs, ...taken } = await takeIn(rows, {
    db,
    service,
    intake: {
      ...intake,
      write: asked && writeAskedAfter ? (to, of, inputs) => writeAskedAfter(to, of, inputs, asked) : write,
    },
    atOnce: rowsAtOnce,
    again: true,
    refuse,
  })
  addTaken(tally, taken)
  if (shows) await noteSeen(db, service, hold, shows.list, inputs.map(shows.idOf))
  const { rows: before, told } = inserted.get(kind) ?? { rows: 0, told: 0 }
  const now = before + taken.inserted
  // With the first, and then with twice as many each time: a few stores that it takes for one cost as much as many rows.
  const isTold = now > 0 && now >= 2 * told
  inserted.set(kind, { rows: now, told: isTold ? now : told })
  if (isTold) await analyzeGrownTables(db)
}
