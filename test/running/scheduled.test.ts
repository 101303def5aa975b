import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../src/db.ts'
import { askForScheduled } from '../../src/worker.ts'
import { freshDatabase } from '../support/database.ts'

const { db, drop } = await freshDatabase()
after(drop)

test('a clock of the database that was set back keeps no job of set times waiting for longer than its time', async () => {
  const job = { run: async () => {}, atOnce: 1, waitsSeconds: [30] }
  const table = { hourly: { ...job, everySeconds: 3_600 }, daily: { ...job, everySeconds: 86_400 } }
  await askForScheduled(db, table)
  await db.run(sql`update job set due_at = now() + interval '5 hours'`)
  await askForScheduled(db, table)
  const rows = await db.rows(sql`
    select name, round(extract(epoch from due_at - now()))::integer as seconds from job order by name desc`)
  assert.deepEqual(rows, [
    { name: 'hourly', seconds: 3_600 },
    { name: 'daily', seconds: 5 * 3_600 },
  ])
})
