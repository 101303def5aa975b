import { once } from 'node:events'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { type Database, sql, wrapClient } from '../database/db.ts'
import { openDedicatedConnection } from '../database/dedicated-connection.ts'
import { migrate } from '../database/migrate.ts'
import { readMark } from '../store/shards/shards.ts'
import { takeOff } from './deferred-indexes.ts'
import { clear } from './empty.ts'
import type { Frame, TableHead } from './frames.ts'
import { noteRestore, openShut } from './history.ts'
import type { Checked } from './verify.ts'

interface Restoring {
  /** True if nothing was written since the backup, so that cursors of clients stay valid. */
  nothingLost?: boolean
  /** Called after the rows are restored, with the share of keys and indexes that exist again, from 0 to 1. */
  onIndexing?: (share: number) => void
}

/**
 * Puts the rows of a backup into an empty database in one transaction: all of them or, whatever happens, none. The tables are at first as
 * they were when the backup was made, and then migrated. Returns the name by which a control database knows this one, if one does. Throws
 * where the database holds anything, or this version does not know the backup's migrations.
 */
export async function restore(
  db: Database,
  { head, end }: Checked,
  frames: AsyncIterable<Frame>,
  { nothingLost = false, onIndexing = () => {} }: Restoring,
) {
  const { client, markReusable, end: leave } = await openDedicatedConnection(db)
  try {
    await requireLater(client, head.takenAt)
    await clear(client)
    const tx = wrapClient(client)
    const within = { ...tx, transaction: <T>(work: (db: typeof tx) => Promise<T>) => work(tx) }
    await migrate(within, { upTo: head.migrations })
    await client.query(`set local maintenance_work_mem = '128MB'`)
    const putBack = await takeOff(client)
    await load(client, frames)
    for (const { table, column, last } of end.counters)
      await client.query('select setval(pg_get_serial_sequence($1, $2), $3)', [table, column, last])
    await putBack(onIndexing)
    const migrated = await migrate(within)
    if (!nothingLost) await noteRestore(tx)
    // Alone it is an installation of its own, whatever it was taken from.
    if (head.service !== undefined) await tx.run(sql`update installation set shard_name = null`)
    const known = await readMark(tx)
    await openShut(tx)
    await client.query('commit')
    // Until it has looked at the tables, PostgreSQL plans as if they were empty.
    await client.query('begin; set local statement_timeout = 0; analyze; commit')
    markReusable()
    return { migrated, dataDatabase: known?.name ?? undefined }
  } finally {
    await leave()
  }
}

/** A stamp that is given after a restore is later than any that was given before: the clocks have to agree about that. */
async function requireLater(client: pg.ClientBase, takenAt: string) {
  const { rows } = await client.query<{ now: string; early: boolean }>(
    'select clock_timestamp()::text as now, clock_timestamp() < $1::timestamptz as early',
    [takenAt],
  )
  if (rows[0]?.early)
    throw new Error(
      `The backup was taken at ${takenAt}, and the clock of this database says ${rows[0].now}: set it right first, else changes would be stamped earlier than what was told before.`,
    )
}

/** Writes the rows as they come, at the pace of the database. */
async function load(client: pg.ClientBase, frames: AsyncIterable<Frame>) {
  let copy: ReturnType<typeof copyFrom> | undefined
  let table = ''
  let fault: Error | undefined
  try {
    for await (const [kind, body] of frames) {
      if (kind === 'D' && copy?.write(body) === false) await once(copy, 'drain')
      if (kind !== 'T' && kind !== 'E') continue
      const whole = copy
      if (whole) await new Promise<void>((resolve, reject) => whole.once('error', reject).end(resolve))
      if (kind === 'E') return
      const { name, columns } = JSON.parse(body.toString()) as TableHead
      table = name
      const [, day] = /^request_block_(\d{8})$/.exec(name) ?? []
      if (day) await client.query('select request_block_day($1)', [day])
      copy = client.query(copyFrom(`copy ${name} (${columns.join(', ')}) from stdin`))
      copy.on('error', error => {
        fault = error
      })
    }
  } catch (error) {
    if (!fault) throw error
  }
  if (fault) throw new Error(`The database does not take the rows of ${table}: ${fault.message}`)
}
