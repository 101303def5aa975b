/**
 * Lets scenarios continue without waiting for leases to expire: of a process that was killed, or of all processes.
 * Triggers record which run of which process took each lease, by the connection's application name.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, type Db, sql } from '../../src/database/db.ts'

/** Tables with leases, their ID, and the column that changes when a lease is taken. */
const leaseTables = [
  ['intent', 'id', 'token'],
  ['reservation', 'owner', 'owner'],
  ['job', 'lease', 'lease'],
  ['sync_state', 'run', 'run'],
] as const

/** Adds triggers that record the process behind each lease. */
export async function recordLeaseOwners({ pool }: Database): Promise<void> {
  const triggers = leaseTables.map(
    ([table, id, changed]) =>
      `create trigger record_lease_owner after insert or update of ${changed} on ${table} for each row when (new.${id} is not null) execute function record_lease_owner('${id}');`,
  )
  await pool.query(`
    create table lease_owner (lease uuid primary key, process text not null);
    create function record_lease_owner() returns trigger language plpgsql as $$
    begin
      insert into lease_owner values ((to_jsonb(new)->>tg_argv[0])::uuid, current_setting('application_name'))
        on conflict (lease) do update set process = excluded.process;
      return null;
    end $$;
    ${triggers.join('\n')}`)
}

/** Ends all leases of one run of a process, as if their time had passed. */
export async function expireLeasesOfProcess(db: Db, processRun: string): Promise<void> {
  const leases = sql`(select lease from lease_owner where process = ${processRun})`
  await db.run(
    sql`update intent set claimed_until = now() - interval '1 s', next_check_at = least(next_check_at, now()) where id in ${leases}`,
  )
  await db.run(sql`update reservation set reserved_until = now() - interval '1 s' where owner in ${leases}`)
  await db.run(sql`update job set leased_until = now() - interval '1 s' where lease in ${leases}`)
  await db.run(sql`update sync_state set heartbeat_at = null where run in ${leases}`)
}

/** Ends the leases of all writes, also of running processes. `includeRunningJobs`: a second worker recovers writes next to the first. */
export async function expireLeases(db: Db, { includeRunningJobs = false } = {}): Promise<void> {
  await db.run(sql`update intent set claimed_until = now() - interval '1 s', next_check_at = now()`)
  await db.run(sql`update reservation set reserved_until = now() - interval '1 s'`)
  await (includeRunningJobs
    ? db.run(sql`update job set leased_until = now() - interval '1 s', due_at = now() where name = 'reconcile-writes'`)
    : runRecoveryNow(db))
}

const runRecoveryNow = (db: Db) =>
  db.run(sql`update job set due_at = now() where name = 'reconcile-writes' and lease is null`)

/** Lists the writes whose outcome is open, and the locks on vouchers that are still valid. */
export const listOpenWrites = async (db: Db): Promise<string[]> =>
  (
    await db.rows<{ open: string }>(sql`
      select operation || ' since ' || started_at as open from intent
      union all select 'a voucher lock' from reservation r
       where reserved_until > now() or until_resolved and exists (select from intent i where i.service_id = r.service_id and i.id = r.owner)`)
  ).map(({ open }) => open)

/** Waits at most 90 s until the workers have recovered all open writes, without their pauses. */
export async function waitUntilWritesAreRecovered(
  db: Db,
  { expiresLeases }: { expiresLeases: boolean },
): Promise<void> {
  for (const end = performance.now() + 90_000; performance.now() < end; await delay(300)) {
    if ((await listOpenWrites(db)).length === 0) return
    if (expiresLeases) await expireLeases(db)
    // A process that works on a write still has its lease.
    else
      await db.run(sql`update intent set next_check_at = now() where next_check_at > now() and claimed_until <= now()`)
    await runRecoveryNow(db)
  }
}

/** Waits at most 90 s until the workers have repeated all sync runs that a kill of PostgreSQL interrupted, without waiting for their leases. */
export async function waitUntilSyncsEnd(db: Db): Promise<void> {
  await db.run(sql`update sync_state set heartbeat_at = null where run is not null`)
  for (const end = performance.now() + 90_000; performance.now() < end; await delay(300)) {
    if (!(await db.run(sql`select from sync_state where run is not null`))) return
    await db.run(sql`
      update job set due_at = now() where name = 'run-sync' and lease is null and due_at > now()
        and (service_id, subject) in (select service_id, sync from sync_state where run is not null)`)
  }
}
