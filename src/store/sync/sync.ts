import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { isHeld } from './lease.ts'
import { type Hold, updateHeld } from './runs.ts'

/** What a run has come to so far. */
export interface Tally {
  read: number
  inserted: number
  changed: number
  removed: number
  refused: number
  notes: Record<string, number>
}

/** Takes hold of a feed for a run; undefined where another one has it. What an earlier run has seen is forgotten. */
export async function holdFeed(db: Db, service: Service, feed: string) {
  const held = await db.row<Held>(sql`
    insert into sync_state as s (service_id, feed, run, beat_at, started_at) values (${service.id}, ${feed}, gen_random_uuid(), now(), now())
    on conflict (service_id, feed) do update
      set (run, beat_at, started_at, read, inserted, changed, removed, refused, notes) = (excluded.run, now(), now(), 0, 0, 0, 0, 0, '{}')
      where not ${isHeld}
    returning run, since, extract(epoch from now() - finished_at)::float as finished, extract(epoch from now() - full_at)::float as full,
              asked_at::text as asked, asks_whole as "asksWhole", asks_whole and asked_at > whole_failed_at as "asksAnew",
              whole_failures as "wholeFailures", whole_every as "wholeEvery", extract(epoch from now() - whole_failed_at)::float as "wholeFailed"`)
  if (!held) return
  await db.run(sql`delete from sync_seen where service_id = ${service.id} and feed = ${feed} and run <> ${held.run}`)
  const { finished, full, wholeFailed, ...rest } = held
  return { ...rest, secondsSinceFinished: finished, secondsSinceFull: full, secondsSinceWholeFailed: wholeFailed }
}

interface Held {
  run: string
  since: string | null
  finished: number | null
  full: number | null
  asked: string | null
  asksWhole: boolean
  /** Since it last failed. */
  asksAnew: boolean | null
  wholeFailures: number
  wholeEvery: number | null
  wholeFailed: number | null
}

/** Shows that the run lives; false where another one has taken over. */
export const beat = async (db: Db, service: Service, hold: Hold, tally: Tally): Promise<boolean> =>
  (await db.run(
    updateHeld(
      service,
      hold,
      sql`(beat_at, read, inserted, changed, removed, refused, notes)
        = (now(), ${tally.read}, ${tally.inserted}, ${tally.changed}, ${tally.removed}, ${tally.refused}, ${JSON.stringify(tally.notes)}::jsonb)`,
    ),
  )) > 0

/** How a run ended well. */
interface Finished {
  /** Undefined: the mark stays. */
  since: string | undefined
  isFull: boolean
  /** What was asked for when it began, and has been done. */
  asked: string | null
  /** Where it has asked for nothing: how often everything is read, in seconds. */
  wholeEvery: number | undefined
}

/** Lets go of a feed whose run ended well. */
export async function finishFeed(db: Db, service: Service, hold: Hold, { since, isFull, asked, wholeEvery }: Finished) {
  const isIdle = wholeEvery !== undefined
  await db.run(
    updateHeld(
      service,
      hold,
      sql`since = coalesce(${since ?? null}::text, since), full_at = case when ${isFull} then now() else full_at end,
          finished_at = case when ${isIdle} then finished_at else now() end,
          whole_every = case when ${isFull} then whole_every else ${wholeEvery ?? null}::integer end,
          whole_failed_at = case when not ${isFull} then whole_failed_at end, whole_failures = case when ${isFull} then 0 else whole_failures end,
          (fault, failed_at) = (select fault, failed_at where ${isIdle} and whole_failures > 0 union all select null, null limit 1),
          run = null, beat_at = null,
          (asked_at, asks_whole) = (select asked_at, asks_whole where asked_at::text is distinct from ${asked}::text union all select null, false limit 1)`,
    ),
  )
  await db.run(sql`delete from sync_seen where ${ofRun(service, hold)}`)
}

/** Lets go of a feed whose run failed: the next one begins where this one did. `isWhole`: everything was to be read, and could not be. */
export const failFeed = (
  db: Db,
  service: Service,
  hold: Hold,
  { fault, isWhole }: { fault: string; isWhole: boolean },
) =>
  db.run(
    updateHeld(
      service,
      hold,
      sql`run = null, beat_at = null, fault = ${fault}, failed_at = now(),
          whole_failed_at = case when ${isWhole} then now() else whole_failed_at end, whole_failures = whole_failures + ${isWhole ? 1 : 0}`,
    ),
  )

/** Notes records of a list as seen. */
export const noteSeen = (db: Db, service: Service, { feed, run }: Hold, list: string, ids: readonly string[]) =>
  db.run(sql`
    insert into sync_seen (service_id, feed, run, list, id)
    select ${service.id}, ${feed}, ${run}, ${list}, id from unnest(${ids}::text[]) id
    on conflict do nothing`)

/** Which rows of `sync_seen` are a run's. */
export const ofRun = (service: Service, { feed, run }: Hold) =>
  sql`service_id = ${service.id} and feed = ${feed} and run = ${run}`

export const countSeen = async (db: Db, service: Service, hold: Hold, list: string) =>
  (
    await db.row<{ count: number }>(
      sql`select count(*)::integer as count from sync_seen where ${ofRun(service, hold)} and list = ${list}`,
    )
  )?.count ?? 0

/** Has the planner look at what a run has seen: left to itself the database does so a minute later. */
export const lookAtSeen = (db: Db) => db.run(sql`analyze sync_seen`)
