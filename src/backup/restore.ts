import { once } from 'node:events'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { type Database, sql, wrapClient } from '../database/db.ts'
import { openDedicatedConnection } from '../database/dedicated-connection.ts'
import { migrate } from '../database/migrate.ts'
import { readMark } from '../store/shards/shards.ts'
import { clearUnusedDatabase } from './clear-database.ts'
import { deferIndexes } from './deferred-indexes.ts'
import type { Frame, TableHead } from './frames.ts'
import { recordRestore, unlockServices } from './history.ts'
import type { VerifiedBackup } from './verify.ts'

interface RestoreOptions {
  /** True if nothing was written since the backup, so that the cursors of clients stay valid. */
  keepCursors?: boolean
  /** Called after the rows are restored, with the share of keys and indexes that exist again, from 0 to 1. */
  onIndexing?: (share: number) => void
}

/**
 * Restores a backup into an empty database in one transaction. Creates the tables with the backup's schema, then migrates them. Returns the
 * applied migrations, and the name of the shard if the backup is of one. Throws if the database isn't empty, or this version doesn't have
 * the backup's migrations.
 */
export async function restore(
  db: Database,
  { head, end }: VerifiedBackup,
  frames: AsyncIterable<Frame>,
  { keepCursors = false, onIndexing = () => {} }: RestoreOptions,
) {
  const { client, markReusable, end: disconnect } = await openDedicatedConnection(db)
  try {
    await requireClockAfter(client, head.takenAt)
    await clearUnusedDatabase(client)
    const tx = wrapClient(client)
    const within = { ...tx, transaction: <T>(work: (db: typeof tx) => Promise<T>) => work(tx) }
    await migrate(within, { upTo: head.migrations })
    await client.query(`set local maintenance_work_mem = '128MB'`)
    const restoreIndexes = await deferIndexes(client)
    await loadRows(client, frames)
    for (const { table, column, last } of end.sequences)
      await client.query('select setval(pg_get_serial_sequence($1, $2), $3)', [table, column, last])
    await restoreIndexes(onIndexing)
    const migrated = await migrate(within)
    if (!keepCursors) await recordRestore(tx)
    // The backup of one service becomes an installation, even if it comes from a shard.
    if (head.service !== undefined) await tx.run(sql`update installation set shard_name = null`)
    const mark = await readMark(tx)
    await unlockServices(tx)
    await client.query('commit')
    // Without statistics, PostgreSQL plans as if the tables were empty.
    await client.query('begin; set local statement_timeout = 0; analyze; commit')
    markReusable()
    return { migrated, shard: mark?.name ?? undefined }
  } finally {
    await disconnect()
  }
}

/** Throws if the database's clock is behind the backup: new change timestamps must be later than all timestamps in the backup. */
export async function requireClockAfter(client: pg.ClientBase, takenAt: string) {
  const { rows } = await client.query<{ now: string; early: boolean }>(
    'select clock_timestamp()::text as now, clock_timestamp() < $1::timestamptz as early',
    [takenAt],
  )
  if (rows[0]?.early)
    throw new Error(
      `The backup was taken at ${takenAt}, but the clock of this database shows ${rows[0].now}. Correct the clock first: new changes must be later than the changes in the backup.`,
    )
}

/** Copies rows into their tables, as fast as the database accepts them. */
export async function loadRows(client: pg.ClientBase, frames: AsyncIterable<Frame>) {
  let copy: ReturnType<typeof copyFrom> | undefined
  let table = ''
  let failure: Error | undefined
  try {
    for await (const [kind, body] of frames) {
      if (kind === 'D' && copy?.write(body) === false) await once(copy, 'drain')
      if (kind !== 'T' && kind !== 'E') continue
      const complete = copy
      if (complete) await new Promise<void>((resolve, reject) => complete.once('error', reject).end(resolve))
      if (kind === 'E') return
      const { name, columns } = JSON.parse(body.toString()) as TableHead
      table = name
      const [, day] = /^request_block_(\d{8})$/.exec(name) ?? []
      if (day) await client.query('select request_block_day($1)', [day])
      copy = client.query(copyFrom(`copy ${name} (${columns.join(', ')}) from stdin`))
      copy.on('error', error => {
        failure = error
      })
    }
  } catch (error) {
    if (!failure) throw error
  }
  if (failure) throw new Error(`The rows of ${table} can't be restored: ${failure.message}`)
}
