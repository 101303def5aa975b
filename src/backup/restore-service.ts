import type pg from 'pg'
import { type Database, type Db, raw, sql, wrapClient } from '../database/db.ts'
import { openDedicatedConnection } from '../database/dedicated-connection.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { waitForWriteLocks } from '../store/lists/wait-for-writers.ts'
import { drainService } from '../store/moves/drain.ts'
import { undoRestore } from '../store/moves/finish.ts'
import { heartbeatIntervalMs, isPauseLongEnough, type Move, sendHeartbeat } from '../store/moves/moves.ts'
import { pauseWrites } from '../store/moves/pause-writes.ts'
import { failpoint } from '../testing/failpoints.ts'
import type { Frame } from './frames.ts'
import { recordRestore } from './history.ts'
import { loadRows, requireClockAfter } from './restore.ts'
import { isRestoredInPlace, selectServiceRows, storedServiceTable } from './service-rows.ts'
import { listTables } from './tables.ts'
import type { VerifiedBackup } from './verify.ts'

/** Maximum milliseconds of the write pause. A restore that takes longer is rolled back. */
const maxPauseMs = 24 * 3_600_000

/** The verified backup, its frames, and what is called during a restore in place. */
interface ServiceBackup {
  backup: VerifiedBackup
  frames: AsyncIterable<Frame>
  /** Called with the reason for a wait. */
  onWaiting: (message: string) => void
  /** Called at the end of the transaction, to record the restore in the audit log. */
  record: (tx: Db) => Promise<unknown>
}

/**
 * Throws, with a remedy, if the database can't take the rows of this backup: other migrations, a clock behind the backup, or a role that can't
 * disable triggers. The backup contains what triggers add up, for example voucher balances.
 */
export async function requireRestorable(db: Database, { head }: VerifiedBackup) {
  const { client, markReusable, end } = await openDedicatedConnection(db)
  try {
    await requireClockAfter(client, head.takenAt)
    await requireSameMigrations(client, head)
    await disableTriggers(client)
    await client.query('rollback').finally(markReusable)
  } finally {
    await end()
  }
}

async function requireSameMigrations(client: pg.ClientBase, { migrations, release }: VerifiedBackup['head']) {
  const { rows } = await client.query<{ digests: string }>(
    `select coalesce(string_agg(sha256, ',' order by number), '') as digests from migration`,
  )
  const digests = [...migrations].sort((a, b) => a.number - b.number).map(({ sha256 }) => sha256)
  if (rows[0]?.digests !== digests.join(','))
    throw new Error(
      `The backup was written by Tillbridge ${release} and has other tables than this database. Restore it into an empty installation with this version, which migrates it. Then back up that installation and use the new backup.`,
    )
}

async function disableTriggers(client: pg.ClientBase) {
  await client.query('set local session_replication_role = replica').catch(async (error: { code?: string }) => {
    if (error.code !== '42501') throw error
    await client.query('rollback')
    const { rows } = await client.query<{ role: string }>('select quote_ident(current_user) as role')
    throw new Error(
      `The PostgreSQL role can't disable triggers, which a restore in place requires. Run as a superuser: grant set on parameter session_replication_role to ${rows[0]?.role}`,
    )
  })
}

/** Counts the rows of a service that a restore in place would replace, by table. */
export async function countReplacedRows(db: Database, { id }: Pick<Service, 'id'>): Promise<Map<string, number>> {
  const { client, markReusable, end } = await openDedicatedConnection(db, 'begin isolation level repeatable read')
  try {
    const counts = new Map<string, number>()
    for (const { name, isPerService } of await listTables(client)) {
      if (!isPerService || !isRestoredInPlace(name)) continue
      const { rows } = await client.query<{ rows: number }>(
        `select count(*)::float8 as rows from ${name} where service_id = $1`,
        [id],
      )
      if (rows[0]?.rows) counts.set(name, rows[0].rows)
    }
    await client.query('commit')
    markReusable()
    return counts
  } finally {
    await end()
  }
}

/**
 * Replaces the rows of one service with those of a backup, in one transaction, while other services are served. Reads return the current rows
 * until the commit. Writes are rejected until then, and jobs don't run. Older cursors are rejected after that. `restore` is from `beginMove`
 * and ends with this function. Returns the milliseconds of the write pause.
 */
export async function restoreService(
  { control, source }: { control: Database; source: Database },
  restore: Move<null>,
  { onWaiting, ...backup }: ServiceBackup,
  stopSignal: AbortSignal,
): Promise<number> {
  const lost = new AbortController()
  const beat = setInterval(() => {
    sendHeartbeat(control, restore).then(
      isOwner => isOwner || lost.abort(new Error('Another process has ended the restore. Nothing was replaced.')),
      () => {},
    )
  }, heartbeatIntervalMs)
  const signal = AbortSignal.any([stopSignal, lost.signal])
  try {
    await drainService(source, restore, { onWaiting, signal })
    const began = performance.now()
    const until = await pauseWrites(source, restore, maxPauseMs)
    if (until === undefined) throw new Error(`Service ${restore.name} no longer exists.`)
    failpoint('service_paused')
    await waitForWriteLocks(source, { id: restore.serviceId }, signal)
    await replaceRows(source, restore, { ...backup, until }, signal)
    return performance.now() - began
  } finally {
    clearInterval(beat)
    // Resumes writes if the transaction was rolled back. If the database is unavailable, a worker does that.
    if (!lost.signal.aborted) await undoRestore({ control, source }, restore)
  }
}

async function replaceRows(
  source: Database,
  { serviceId, name }: Move<null>,
  { backup, frames, record, until }: Omit<ServiceBackup, 'onWaiting'> & { until: string },
  signal: AbortSignal,
) {
  const { client, markReusable, end, destroy } = await openDedicatedConnection(source)
  signal.addEventListener('abort', destroy, { once: true })
  try {
    signal.throwIfAborted()
    const tx = wrapClient(client)
    const isService = sql`service_id = ${serviceId}`
    // Locked until the commit, so that a process that takes over waits for the outcome.
    const locked = await tx.run(sql`
      select from service where ${isService} and move_state = 'paused' and ${isPauseLongEnough(until)} for no key update`)
    if (!locked) throw new Error(`Another process has ended the write pause of ${name}.`)
    await disableTriggers(client)
    for (const table of await listTables(client))
      if (table.isPerService && isRestoredInPlace(table.name))
        await tx.run(sql`delete from ${raw(table.name)} where ${isService}`)
    await client.query(`create temporary table ${storedServiceTable} (like service) on commit drop`)
    await loadRows(client, selectServiceRows(frames, serviceId))
    // Workers of the time of the backup no longer exist.
    await tx.run(sql`
      update job set lease = null, leased_until = null, unfinished_starts = greatest(unfinished_starts - 1, 0) where ${isService} and lease is not null`)
    for (const { table, column, last } of backup.end.sequences)
      await client.query(
        `select setval(s, $3) from pg_get_serial_sequence($1, $2) s where coalesce(pg_sequence_last_value(s), 0) < $3`,
        [table, column, last],
      )
    failpoint('service_rows_replaced')
    const opened = await tx.run(sql`
      update service set settings = (select settings from ${raw(storedServiceTable)} where ${isService}), move_state = null, paused_until = null
       where ${isService} and move_state = 'paused' and ${isPauseLongEnough(until)}`)
    if (!opened) throw new Error('The restore took longer than the write pause. Nothing was replaced.')
    await recordRestore(tx, { id: serviceId })
    await record(tx)
    signal.throwIfAborted()
    await client.query('commit')
    markReusable()
    failpoint('service_restored')
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', destroy)
    await end()
  }
}
