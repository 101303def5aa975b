import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { addScheduledJobs } from '../../../src/jobs/worker.ts'
import { addJob, leaseDueJobs, readJobLag } from '../../../src/store/jobs/jobs.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { createTestDatabase } from '../../support/database.ts'

const { db, drop } = await createTestDatabase()
after(drop)

test('a scheduled job runs in time even if the clock steps back', async () => {
  const job = { run: async () => {}, concurrency: 1, retryDelaysSeconds: [30] }
  const table = { hourly: { ...job, intervalSeconds: 3_600 }, daily: { ...job, intervalSeconds: 86_400 } }
  await addScheduledJobs(db, table)
  await db.run(sql`update job set due_at = now() + interval '5 hours'`)
  await addScheduledJobs(db, table)
  const rows = await db.rows(sql`
    select name, round(extract(epoch from due_at - now()))::integer as seconds from job order by name desc`)
  assert.deepEqual(rows, [
    { name: 'hourly', seconds: 3_600 },
    { name: 'daily', seconds: 5 * 3_600 },
  ])
})

test('a job that crashes workers is paused and blocks no others', async () => {
  const id = (await addService(db, 'luma'))?.id ?? 0
  for (const subject of ['deadly', 'other']) await addJob(db, id, 'pull', { subject })
  await db.run(sql`insert into job (service_id, name) values (null, 'look')`)
  await db.run(sql`
    update job set due_at = now() - interval '10 minutes', unfinished_starts = 40, leased_until = now() - interval '9 minutes', lease = gen_random_uuid()
     where subject = 'deadly' or name = 'look'`)
  await db.run(sql`update job set due_at = now() - interval '1 minute' where subject = 'other'`)
  const { oldestSeconds, isIdle } = await readJobLag(db)
  assert.deepEqual([Math.round(oldestSeconds), isIdle], [60, false])
  const accepted = await leaseDueJobs(db, { pull: { free: 1, concurrencyPerService: 1 }, look: { free: 1 } }, 30)
  assert.deepEqual(
    accepted.map(({ subject }) => subject),
    ['other'],
  )
})
