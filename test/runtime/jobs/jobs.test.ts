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

const job = (runs: (work: JobRun) => Promise<void>, more: Partial<Job> = {}): Job => ({
  run: runs,
  concurrency: 1,
  retryDelaysSeconds: [30, 60],
  ...more,
})

/** Two services and workers for them, on a database of the test's own. */
async function workplace(t: TestContext) {
  const database = await createTestDatabase()
  const { db } = database
  const begun: Worker[] = []
  t.after(async () => {
    await Promise.all(begun.map(worker => worker.stop(0)))
    await database.drop()
  })
  const nowhere: MailTransport = { send: async () => {} }
  return {
    db,
    services: [await addService(db, 'luma'), await addService(db, 'orso')] as Service[],
    work(table: Readonly<Record<string, Job>>, post = nowhere) {
      const worker = startWorker({ db, keys, log: pino({ level: 'silent' }), mailTransport: post }, table)
      begun.push(worker)
      return worker
    },
    state: (name: string) =>
      db.row<{ attempts: number; wait: number; lease: string | null }>(
        sql`select attempts, extract(epoch from due_at - now())::float8 as wait, lease from job where name = ${name}`,
      ),
  }
}

// At the same time: most of it is waiting, for a lease to end and for the next look at what is due.
describe('jobs', { concurrency: true }, () => {
  test('a job has the name of its file', async () => {
    for (const name of Object.keys(jobs))
      assert.ok(fs.existsSync(new URL(`../../../src/jobs/${name}.ts`, import.meta.url)), name)
  })

  test('two workers share the emails and send each once', async t => {
    const { db, services, work } = await workplace(t)
    const sink = await startSink()
    const [service] = services
    assert.ok(service)
    const numbers = Array.from({ length: 40 }, (_, i) => String(i))
    await db.transaction(async tx => {
      for (const number of numbers) await queueVoucherEmail(tx, keys, service, { ...giftEmail, number })
    })
    const workers = [1, 2].map(() => work(jobs, createSmtpTransport(sink.url)))
    await waitUntil(
      async () => (await db.run(sql`select from email where status = 'sent'`)) === 40,
      'all are sent',
      20_000,
    )
    await Promise.all(workers.map(worker => worker.stop(5_000)))
    for (const number of numbers) assert.equal(listMessageIds(sink, number).length, 1, number)
    assert.equal(await db.run(sql`select from job where name = 'send-email'`), 0)
    await sink.close()
  })

  test('a scheduled job runs immediately and then at its interval', async t => {
    const { work, state } = await workplace(t)
    const runs: string[] = []
    const worker = work({
      whole: job(async ({ service }) => void runs.push(`whole ${service?.name}`), { intervalSeconds: 1 }),
    })
    await waitUntil(() => runs.filter(name => name === 'whole undefined').length >= 2, 'it runs twice')
    await worker.stop(1_000)
    assert.equal((await state('whole'))?.attempts, 0)
  })

  test('a failing job backs off without delaying others', async t => {
    const { db, work, state } = await workplace(t)
    let attempts = 0
    let otherJobs = 0
    const worker = work({
      fails: job(async () => {
        attempts++
        throw new Error('not today')
      }),
      other: job(async () => void otherJobs++, { intervalSeconds: 1 }),
    })
    await addJob(db, null, 'fails')
    let before = 0
    for (const seconds of [30, 60, 60]) {
      await waitUntil(() => attempts > before, 'it is tried', 30_000)
      await waitUntil(async () => ((await state('fails'))?.wait ?? 0) > 1, 'it waits')
      const { wait = 0, lease } = (await state('fails')) ?? {}
      assert.ok(Math.abs(wait - seconds) < 5, `${wait} s`)
      assert.equal(lease, null)
      // Before it is due: it may be tried while the statement is answered.
      before = attempts
      await db.run(sql`update job set due_at = now() where name = 'fails'`)
    }
    assert.ok(otherJobs >= 1)
    await worker.stop(1_000)
  })

  test('a stop waits for running jobs and releases slow ones', async t => {
    const { db, work, state } = await workplace(t)
    const signals: AbortSignal[] = []
    const started = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<void>()
    const patient = work({
      slow: job(async ({ signal: jobSignal }) => {
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
    assert.equal(await state('slow'), undefined, 'it was finished')
    assert.equal(signals[0]?.aborted, false)

    const endless = Promise.withResolvers<AbortSignal>()
    const impatient = work({
      endless: job(async ({ signal: jobSignal }) => {
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
      { ...(await state('endless')), wait: 0 },
      { attempts: 0, wait: 0, lease: null },
      'the next worker has it at once',
    )
  })

  test('a long job renews its lease and is not started twice', async t => {
    const { db, work, state } = await workplace(t)
    const began: string[] = []
    const table = (name: string) => ({
      long: job(async () => {
        began.push(name)
        await delay(24_000)
      }),
    })
    await addJob(db, null, 'long')
    const workers = ['first', 'second'].map(name => work(table(name)))
    await waitUntil(async () => began.length > 0 && !(await state('long')), 'it is done', 40_000)
    assert.equal(began.length, 1)
    await Promise.all(workers.map(worker => worker.stop(1_000)))
  })

  for (const [label, seconds, fails] of [
    ['is done once', undefined, false],
    ['comes each hour', 3_600, false],
    ['fails', undefined, true],
  ] as const)
    test(`a job that ${label} runs again if requested during its run`, async t => {
      const { db, work, state } = await workplace(t)
      const ends: (() => void)[] = []
      const worker = work({
        asked: job(async ({ reschedule }) => {
          if (seconds) reschedule(seconds)
          await new Promise<void>(resolve => ends.push(resolve))
          if (fails && ends.length === 1) throw new Error('not this time')
        }),
      })
      const isRunning = (times: number) => waitUntil(() => ends.length === times, `run ${times}`)
      await addJob(db, null, 'asked')
      await isRunning(1)
      await addJob(db, null, 'asked')
      await addJob(db, null, 'asked')
      ends[0]?.()
      await isRunning(2)
      ends[1]?.()
      await waitUntil(async () => !(await state('asked'))?.lease, 'the second one has ended')
      const stored = await state('asked')
      assert.equal(stored && Math.ceil(stored.wait / 60), seconds && 60)
      await worker.stop(1_000)
      assert.equal(ends.length, 2)
    })

  test("a worker that lost its job's lease is aborted", async t => {
    const { db, work, state } = await workplace(t)
    const accepted = Promise.withResolvers<JobRun>()
    const worker = work({
      lost: job(async run => {
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
    assert.ok((await state('lost'))?.lease, 'the job stays with its new worker')
  })

  test('a worker survives cut connections', async t => {
    const { db, work } = await workplace(t)
    let runs = 0
    const worker = work({ steady: job(async () => void runs++, { intervalSeconds: 1 }) })
    await waitUntil(() => runs > 0, 'it runs')
    for (let i = 0; i < 5; i++) {
      await db
        .run(
          sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
        )
        .catch(() => {})
      await delay(100)
    }
    const before = runs
    // A run whose end could not be written down is taken over once its lease has ended.
    await waitUntil(() => runs > before, 'it runs on', 60_000)
    await worker.stop(1_000)
  })
})
