import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import type { Job, JobRun } from '../../../src/jobs/job.ts'
import { jobs } from '../../../src/jobs/jobs.ts'
import { startWorker, type Worker } from '../../../src/jobs/worker.ts'
import { createSmtpTransport } from '../../../src/mail/smtp-transport.ts'
import type { MailTransport } from '../../../src/mail/transport.ts'
import { addJob } from '../../../src/store/jobs/jobs.ts'
import { queueVoucherEmail } from '../../../src/store/mail/emails.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { createTestDatabase } from '../../support/database.ts'
import { giftEmail } from '../../support/mailing.ts'
import { waitUntil } from '../../support/processes.ts'
import { listMessageIds, startSink } from '../../support/smtp-sink.ts'

const keys = deriveKeys(randomBytes(32))

const createJob = (runs: (work: JobRun) => Promise<void>, overrides: Partial<Job> = {}): Job => ({
  run: runs,
  concurrency: 1,
  retryDelaysSeconds: [30, 60],
  ...overrides,
})

/** Creates two services on a separate database, and starts workers for them. */
async function createWorkplace(t: TestContext) {
  const database = await createTestDatabase()
  const { db } = database
  const workers: Worker[] = []
  t.after(async () => {
    await Promise.all(workers.map(worker => worker.stop(0)))
    await database.drop()
  })
  const discardingTransport: MailTransport = { send: async () => {} }
  return {
    db,
    services: [await addService(db, 'luma'), await addService(db, 'orso')] as Service[],
    startTestWorker(table: Readonly<Record<string, Job>>, mailTransport = discardingTransport) {
      const worker = startWorker({ db, keys, log: pino({ level: 'silent' }), mailTransport }, table)
      workers.push(worker)
      return worker
    },
    getState: (name: string) =>
      db.row<{ attempts: number; wait: number; lease: string | null }>(
        sql`select attempts, extract(epoch from due_at - now())::float8 as wait, lease from job where name = ${name}`,
      ),
  }
}

// Concurrent, because the tests mostly wait for leases to expire and for the next poll of due jobs.
describe('jobs', { concurrency: true }, () => {
  test('a job has the name of its file', async () => {
    for (const name of Object.keys(jobs))
      assert.ok(fs.existsSync(new URL(`../../../src/jobs/${name}.ts`, import.meta.url)), name)
  })

  test('two workers share the emails and send each once', async t => {
    const { db, services, startTestWorker } = await createWorkplace(t)
    const sink = await startSink()
    const [service] = services
    assert.ok(service)
    const numbers = Array.from({ length: 40 }, (_, i) => String(i))
    await db.transaction(async tx => {
      for (const number of numbers) await queueVoucherEmail(tx, keys, service, { ...giftEmail, number })
    })
    const workers = [1, 2].map(() => startTestWorker(jobs, createSmtpTransport(sink.url)))
    await waitUntil(
      async () => (await db.run(sql`select from email where status = 'sent'`)) === 40,
      'all emails are sent',
      20_000,
    )
    await Promise.all(workers.map(worker => worker.stop(5_000)))
    for (const number of numbers) assert.equal(listMessageIds(sink, number).length, 1, number)
    assert.equal(await db.run(sql`select from job where name = 'send-email'`), 0)
    await sink.close()
  })

  test('a scheduled job runs immediately and then at its interval', async t => {
    const { startTestWorker, getState } = await createWorkplace(t)
    const runs: string[] = []
    const worker = startTestWorker({
      whole: createJob(async ({ service }) => void runs.push(`whole ${service?.name}`), { intervalSeconds: 1 }),
    })
    await waitUntil(() => runs.filter(name => name === 'whole undefined').length >= 2, 'the job runs twice')
    await worker.stop(1_000)
    assert.equal((await getState('whole'))?.attempts, 0)
  })

  test('a failing job backs off without delaying others', async t => {
    const { db, startTestWorker, getState } = await createWorkplace(t)
    let attempts = 0
    let otherJobs = 0
    const worker = startTestWorker({
      fails: createJob(async () => {
        attempts++
        throw new Error('not today')
      }),
      other: createJob(async () => void otherJobs++, { intervalSeconds: 1 }),
    })
    await addJob(db, null, 'fails')
    let before = 0
    for (const seconds of [30, 60, 60]) {
      await waitUntil(() => attempts > before, 'the job is tried', 30_000)
      await waitUntil(async () => ((await getState('fails'))?.wait ?? 0) > 1, 'the job waits')
      const { wait = 0, lease } = (await getState('fails')) ?? {}
      assert.ok(Math.abs(wait - seconds) < 5, `${wait} s`)
      assert.equal(lease, null)
      // Read first, because the job can run before the response of the statement arrives.
      before = attempts
      await db.run(sql`update job set due_at = now() where name = 'fails'`)
    }
    assert.ok(otherJobs >= 1)
    await worker.stop(1_000)
  })

  test('a stop waits for running jobs and releases slow ones', async t => {
    const { db, startTestWorker, getState } = await createWorkplace(t)
    const signals: AbortSignal[] = []
    const started = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<void>()
    const patient = startTestWorker({
      slow: createJob(async ({ signal: jobSignal }) => {
        signals.push(jobSignal)
        started.resolve()
        await finish.promise
      }),
    })
    await addJob(db, null, 'slow')
    await started.promise
    const stopped = patient.stop(10_000)
    finish.resolve()
    await stopped
    assert.equal(await getState('slow'), undefined, 'the job must be finished')
    assert.equal(signals[0]?.aborted, false)

    const endless = Promise.withResolvers<AbortSignal>()
    const impatient = startTestWorker({
      endless: createJob(async ({ signal: jobSignal }) => {
        endless.resolve(jobSignal)
        await new Promise((_, reject) => jobSignal.addEventListener('abort', () => reject(jobSignal.reason)))
      }),
    })
    await addJob(db, null, 'endless')
    const signal = await endless.promise
    const begin = performance.now()
    await impatient.stop(200)
    assert.ok(performance.now() - begin < 2_000)
    assert.ok(signal.aborted)
    assert.deepEqual(
      { ...(await getState('endless')), wait: 0 },
      { attempts: 0, wait: 0, lease: null },
      'the next worker can lease the job immediately',
    )
  })

  test('a long job renews its lease and is not started twice', async t => {
    const { db, startTestWorker, getState } = await createWorkplace(t)
    const starters: string[] = []
    const table = (name: string) => ({
      long: createJob(async () => {
        starters.push(name)
        await delay(24_000)
      }),
    })
    await addJob(db, null, 'long')
    const workers = ['first', 'second'].map(name => startTestWorker(table(name)))
    await waitUntil(async () => starters.length > 0 && !(await getState('long')), 'the job is done', 40_000)
    assert.equal(starters.length, 1)
    await Promise.all(workers.map(worker => worker.stop(1_000)))
  })

  for (const [label, seconds, fails] of [
    ['is done once', undefined, false],
    ['runs each hour', 3_600, false],
    ['fails', undefined, true],
  ] as const)
    test(`a job that ${label} runs again if requested during its run`, async t => {
      const { db, startTestWorker, getState } = await createWorkplace(t)
      const ends: (() => void)[] = []
      const worker = startTestWorker({
        requested: createJob(async ({ reschedule }) => {
          if (seconds) reschedule(seconds)
          await new Promise<void>(resolve => ends.push(resolve))
          if (fails && ends.length === 1) throw new Error('not this time')
        }),
      })
      const waitForRun = (times: number) => waitUntil(() => ends.length === times, `run ${times}`)
      await addJob(db, null, 'requested')
      await waitForRun(1)
      await addJob(db, null, 'requested')
      await addJob(db, null, 'requested')
      ends[0]?.()
      await waitForRun(2)
      ends[1]?.()
      await waitUntil(async () => !(await getState('requested'))?.lease, 'the second run has ended')
      const state = await getState('requested')
      assert.equal(state && Math.ceil(state.wait / 60), seconds && 60)
      await worker.stop(1_000)
      assert.equal(ends.length, 2)
    })

  test("a worker that lost its job's lease is aborted", async t => {
    const { db, startTestWorker, getState } = await createWorkplace(t)
    const accepted = Promise.withResolvers<JobRun>()
    const worker = startTestWorker({
      lost: createJob(async run => {
        accepted.resolve(run)
        await new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason)))
      }),
    })
    await addJob(db, null, 'lost')
    const { signal, renewLease } = await accepted.promise
    assert.equal(await renewLease(), true)
    await db.run(sql`update job set lease = gen_random_uuid() where name = 'lost'`)
    assert.equal(await renewLease(), false)
    await waitUntil(() => signal.aborted, 'the attempt is aborted', 8_000)
    await worker.stop(1_000)
    assert.ok((await getState('lost'))?.lease, 'the new worker keeps the job')
  })

  test('a worker survives cut connections', async t => {
    const { db, startTestWorker } = await createWorkplace(t)
    let runs = 0
    const worker = startTestWorker({ steady: createJob(async () => void runs++, { intervalSeconds: 1 }) })
    await waitUntil(() => runs > 0, 'the job runs')
    for (let i = 0; i < 5; i++) {
      await db
        .run(
          sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
        )
        .catch(() => {})
      await delay(100)
    }
    const before = runs
    // If the end of a run could not be recorded, another run starts after the lease expires.
    await waitUntil(() => runs > before, 'the job runs again', 60_000)
    await worker.stop(1_000)
  })
})
