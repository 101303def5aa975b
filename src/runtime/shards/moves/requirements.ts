import { type Db, sql } from '../../../database/db.ts'

/** A database of a move, with its name for messages. */
interface MoveServer {
  db: Db
  label: string
}

interface Facts {
  version: number
  level: string
  slots: boolean
  canCreate: boolean
  canReplicate: boolean
  canSubscribe: boolean
  name: string
  database: string
}

const readFacts = (db: Db) =>
  db.row<Facts>(sql`
    select current_setting('server_version_num')::integer / 10000 as version, current_setting('wal_level') as level,
           (select count(*) from pg_replication_slots) + 4 <= current_setting('max_replication_slots')::integer as slots,
           has_database_privilege(current_database(), 'create') as "canCreate",
           rolsuper or rolreplication as "canReplicate",
           rolsuper or exists (select from pg_roles m where m.rolname = 'pg_create_subscription' and pg_has_role(m.oid, 'usage')) as "canSubscribe",
           rolname as name, current_database() as database
      from pg_roles where rolname = current_user`)

/** Maximum seconds by which the two clocks differ, and by which the target's clock is behind: the pause waits for that. */
const maxClockDifferenceSeconds = 5
const maxTargetLagSeconds = 1

/** Throws, with remedies, if services can't be moved from one server to the other. */
export async function requireMovable(source: MoveServer, target: MoveServer): Promise<void> {
  const [from, to] = await Promise.all([readFacts(source.db), readFacts(target.db)])
  if (!from || !to) throw new Error('PostgreSQL returned no row for its role.')
  const missing: string[] = []
  for (const [{ label }, { version, canCreate, name, database }] of [
    [source, from],
    [target, to],
  ] as const) {
    if (version < 15) missing.push(`PostgreSQL of ${label} is version ${version}; moves require 15 or later.`)
    if (!canCreate)
      missing.push(
        `The role ${name} of ${label} can't create objects in its database: grant create on database ${database} to ${name}.`,
      )
  }
  if (from.level !== 'logical')
    missing.push(
      `PostgreSQL of ${source.label} has wal_level = ${from.level}: alter system set wal_level = 'logical', and restart it.`,
    )
  if (!from.slots)
    missing.push(`PostgreSQL of ${source.label} has no replication slots left: increase max_replication_slots.`)
  if (!from.canReplicate)
    missing.push(`The role ${from.name} of ${source.label} can't replicate: alter role ${from.name} replication.`)
  if (!to.canSubscribe)
    missing.push(
      `The role ${to.name} of ${target.label} can't subscribe: grant pg_create_subscription to ${to.name} (PostgreSQL 16 or later), or alter role ${to.name} superuser.`,
    )
  const ahead = await measureClockDifference(source.db, target.db)
  if (Math.abs(ahead) > maxClockDifferenceSeconds || ahead > maxTargetLagSeconds)
    missing.push(
      `The clocks of ${source.label} and ${target.label} are ${Math.abs(ahead).toFixed(1)} s apart: set both by NTP.`,
    )
  if (missing.length) throw new Error(`Nothing was moved. ${missing.join(' ')}`)
}

/** Returns the seconds by which one clock is ahead of the other, from the fastest of three measurements. */
async function measureClockDifference(one: Db, other: Db): Promise<number> {
  let best = { tookMs: Number.POSITIVE_INFINITY, ahead: 0 }
  for (let attempt = 0; attempt < 3; attempt++) {
    const startedAt = performance.now()
    const [a, b] = [await readClockSeconds(one), await readClockSeconds(other)]
    const tookMs = performance.now() - startedAt
    if (tookMs < best.tookMs) best = { tookMs, ahead: a + tookMs / 2_000 - b }
  }
  return best.ahead
}

const readClockSeconds = async (db: Db) =>
  (await db.row<{ at: number }>(sql`select extract(epoch from clock_timestamp())::float8 as at`))?.at ?? 0
