import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { addService } from '../../src/accounts.ts'
import { type Database, openDatabase, sql } from '../../src/db.ts'
import type { Job, Work } from '../../src/jobs/job.ts'
import { jobs } from '../../src/jobs/jobs.ts'
import type { Post } from '../../src/mail/post.ts'
import { smtpPost } from '../../src/mail/smtp.ts'
import { type Keys, keysFrom } from '../../src/secrets.ts'
import type { Service } from '../../src/settings.ts'
import { raiseAlert } from '../../src/store/running/alerts.ts'
import { addJob } from '../../src/store/running/jobs.ts'
import { queueVoucherMail, type VoucherMail } from '../../src/store/running/mails.ts'
import { startWorker, type Worker } from '../../src/worker.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { begin, directory, done, type Environment, postgresOf, run, serve, stop, until } from '../support/processes.ts'
import { type SmtpSink, startSink } from '../support/smtp-sink.ts'

const gift: VoucherMail = {
  number: '2062389',
  pin: '204816',
  amount: '150.00',
  currency: 'AUD',
  expiryDate: null,
  receiverName: 'Veronica Costello',
  receiverEmail: 'veronica@example.com',
  senderName: 'John Smith',
  message: null,
  subject: 'A gift for you',
  deliveryDate: null,
}

const messageIds = ({ delivered }: SmtpSink, number: string) =>
  delivered.filter(({ text }) => text?.includes(`Voucher number: ${number}\n`)).map(({ messageId }) => messageId)

/** What a process that serves would write: a mail of a voucher, in a transaction. */
async function writerOf(dataDir: string) {
  const db = openDatabase(JSON.parse(fs.readFileSync(join(dataDir, 'database.json'), 'utf8')), { onFault: () => {} })
  const keys = keysFrom(fs.readFileSync(join(dataDir, 'secret'), 'utf8').trim())
  const service = await addService(db, 'luma')
  assert.ok(service)
  return {
    db,
    service,
    queue: (number: string) => db.transaction(tx => queueVoucherMail(tx, keys, service, { ...gift, number })),
  }
}

const statusOf = async (db: Database, number: string) =>
  (await db.row<{ status: string }>(sql`select status from mail where voucher_number = ${number}`))?.status

// At the same time: most of it is waiting for leases to end.
describe('worker', { concurrency: true }, () => {
  describe('processes', { concurrency: true }, () => {
    test('a worker that is killed around the sending of a mail is taken over: one more mail at most, the same Message-ID, within 60 s', async t => {
      const environment: Environment = { DATA_DIR: join(directory(), 'data') }
      const sink = await startSink()
      const service = await serve(['--no-demo'], { ...environment, JOBS: 'off' })
      assert.match(service.out, /^E-mails and other jobs are done by: tillbridge worker$/m)
      const { db, queue } = await writerOf(environment.DATA_DIR ?? '')
      const worker = (more: Environment = {}) =>
        begin(['worker'], { ...environment, SMTP_URL: sink.url, LOG_LEVEL: 'warn', ...more })
      try {
        const killed: Record<string, number> = {}
        for (const border of ['before_smtp', 'after_smtp', 'before_mark_sent']) {
          await queue(border)
          const victim = worker({ FAILPOINT: border })
          assert.deepEqual(await victim.ended, { code: null, signal: 'SIGKILL' }, victim.err)
          killed[border] = performance.now()
          assert.equal(messageIds(sink, border).length, border === 'before_smtp' ? 0 : 1)
          assert.equal(await statusOf(db, border), 'queued')
        }
        await queue('halted')
        const halted = worker({ FAILPOINT: 'before_smtp:stop' })
        const state = () => fs.readFileSync(`/proc/${halted.pid}/stat`, 'utf8').split(') ')[1]?.[0]
        await until(() => state() === 'T', 'the worker is halted')

        const healthy = worker()
        for (const [border, at] of Object.entries(killed)) {
          await until(async () => (await statusOf(db, border)) === 'sent', border, 60_000)
          const ids = messageIds(sink, border)
          assert.equal(ids.length, border === 'before_smtp' ? 1 : 2)
          assert.equal(new Set(ids).size, 1)
          const tookMs = performance.now() - at
          t.diagnostic(`killed at ${border}: sent ${Math.round(tookMs / 100) / 10} s later`)
          assert.ok(tookMs < 60_000)
        }
        await until(async () => (await statusOf(db, 'halted')) === 'sent', 'the halted one is taken over', 60_000)
        halted.child.kill('SIGCONT')
        await queue('after')
        await until(async () => (await statusOf(db, 'after')) === 'sent', 'the next is sent')
        await stop(halted)
        assert.equal(messageIds(sink, 'halted').length, 1, 'it found that another worker had taken over')

        // PostgreSQL is killed, and started again by its owner.
        process.kill(postgresOf(environment.DATA_DIR ?? '') ?? 0, 'SIGKILL')
        await until(
          () =>
            queue('restarted').then(
              () => true,
              () => false,
            ),
          'PostgreSQL is back',
          20_000,
        )
        await until(async () => (await statusOf(db, 'restarted').catch(() => '')) === 'sent', 'it goes on', 20_000)
        assert.deepEqual(await stop(healthy), { code: 0, signal: null }, healthy.err)
        assert.doesNotMatch(healthy.err + service.err, /204816|veronica/)
      } finally {
        await db.close()
        await stop(service)
        await sink.close()
      }
    })

    test('a service that is killed between the server’s yes and its own mark sends once more after a restart', async t => {
      const environment: Environment = { DATA_DIR: join(directory(), 'data') }
      const sink = await startSink()
      try {
        const victim = await serve(['--no-demo'], { ...environment, SMTP_URL: sink.url, FAILPOINT: 'after_smtp' })
        assert.match(victim.out, /^E-mails are sent through 127\.0\.0\.1:\d+\.$/m)
        const first = await writerOf(environment.DATA_DIR ?? '')
        await first.queue('1')
        assert.deepEqual(await victim.ended, { code: null, signal: 'SIGKILL' })
        const killedAt = performance.now()
        await first.db.close()
        assert.equal(sink.delivered.length, 1)

        const service = await serve(['--no-demo'], { ...environment, SMTP_URL: sink.url })
        await until(() => sink.delivered.length === 2, 'it is sent again', 60_000)
        const tookMs = performance.now() - killedAt
        t.diagnostic(`sent ${Math.round(tookMs / 100) / 10} s after the kill`)
        assert.ok(tookMs < 60_000)
        assert.equal(new Set(messageIds(sink, '1')).size, 1)
        assert.match(await done(['mail', 'list'], environment), / 1 +sent /)
        assert.deepEqual(await stop(service), { code: 0, signal: null }, service.err)
        assert.equal(sink.delivered.length, 2)
      } finally {
        await sink.close()
      }
    })

    test('without a mail server e-mails are files under the data directory; the command line lists them and tries them again', async () => {
      const environment: Environment = { DATA_DIR: join(directory(), 'data'), WORKERS: '2' }
      const dataDir = environment.DATA_DIR ?? ''
      const service = await serve(['--no-demo'], environment)
      assert.match(service.out, /^E-mails are not sent but left in \S+\/data\/mail; SMTP_URL names a mail server\.$/m)
      const { db, queue } = await writerOf(dataDir)
      try {
        await queue('1')
        await until(async () => (await statusOf(db, '1')) === 'sent', 'it is written')
        assert.equal(fs.readdirSync(join(dataDir, 'mail')).length, 1)
        assert.match(await done(['mail', 'list', '--status', 'sent'], environment), /^[\da-f-]{36} +1 +sent +1 /m)
        assert.doesNotMatch(await done(['mail', 'list', '--status', 'failed'], environment), /sent +1/)
        const { out, ...rest } = await run(['mail', 'retry', 'nothing'], environment)
        assert.equal(rest.code, 1)
        assert.match(rest.err, /^tillbridge: There is no e-mail nothing to be tried again/)

        fs.rmSync(join(dataDir, 'mail'), { recursive: true })
        fs.writeFileSync(join(dataDir, 'mail'), 'in the way')
        await queue('2')
        await until(
          async () =>
            (await done(['mail', 'list', '--status', 'queued'], environment)).includes('It could not be put together'),
          'the fault is told',
        )
        fs.rmSync(join(dataDir, 'mail'))
        const [id] =
          /^[\da-f]{8}-[\da-f-]{27}/m.exec(await done(['mail', 'list', '--status', 'queued'], environment)) ?? []
        assert.match(await done(['mail', 'retry', id ?? ''], environment), /^One e-mail is tried again\.$/m)
        await until(async () => (await statusOf(db, '2')) === 'sent', 'it is written')
      } finally {
        await db.close()
        assert.deepEqual(await stop(service), { code: 0, signal: null }, service.err)
      }
    })

    test('alerts are listed, make the doctor complain, and are settled by hand', async () => {
      const environment: Environment = { DATA_DIR: join(directory(), 'data') }
      const service = await serve(['--no-demo'], environment)
      const { db, service: luma } = await writerOf(environment.DATA_DIR ?? '')
      await raiseAlert(db, luma.id, { kind: 'voucher_refused', subject: '2062389', detail: 'After 5 wrong PINs.' })
      await raiseAlert(db, luma.id, { kind: 'voucher_refused', subject: '2062389', detail: 'After 6 wrong PINs.' })
      await db.close()
      const listed = await done(['alert', 'list'], environment)
      assert.match(listed, /^luma +voucher_refused +2062389 +2 +\S+ \S+ +After 6 wrong PINs\.$/m)
      const { code, out } = await run(['doctor'], environment)
      assert.equal(code, 1)
      assert.match(out, /^MISSING {2}Alerts +luma: voucher_refused; see: tillbridge alert list$/m)
      assert.match(await done(['alert', 'settle', 'voucher_refused'], environment), /^One alert is settled\.$/m)
      assert.match((await run(['doctor'], environment)).out, /^ok +Alerts +none$/m)
      assert.equal((await run(['alert', 'settle', 'voucher_refused'], environment)).code, 1)
      assert.deepEqual(await stop(service), { code: 0, signal: null }, service.err)
    })

    test('a worker without a service beside it says so', async () => {
      const { code, err } = await run(['worker'], { DATA_DIR: join(directory(), 'data') })
      assert.equal(code, 1)
      assert.match(
        err,
        /tillbridge: Nothing serves on this bundled database: tillbridge start first, or set DATABASE_URL\./,
      )
    })
  })

  describe('jobs', { concurrency: 1 }, () => {
    const keys: Keys = keysFrom(randomBytes(32))
    const log = pino({ level: 'silent' })
    let database: FreshDatabase
    let db: Database
    let services: Service[]
    const post: Post = { send: async () => {} }
    const begun: Worker[] = []
    const work = (table: Readonly<Record<string, Job>>, how = post) => {
      const worker = startWorker({ db, keys, log, post: how }, table)
      begun.push(worker)
      return worker
    }
    const job = (runs: (work: Work) => Promise<void>, more: Partial<Job> = {}): Job => ({
      run: runs,
      atOnce: 1,
      waitsSeconds: [30, 60],
      ...more,
    })
    const state = (name: string) =>
      db.row<{ attempts: number; wait: number; lease: string | null }>(
        sql`select attempts, extract(epoch from due_at - now())::float8 as wait, lease from job where name = ${name}`,
      )

    before(async () => {
      database = await freshDatabase()
      db = database.db
      services = [await addService(db, 'luma'), await addService(db, 'orso')].filter(service => service !== undefined)
      assert.equal(services.length, 2)
    })
    after(async () => {
      await Promise.all(begun.map(worker => worker.stop(0)))
      await database.drop()
    })

    test('the name of a job is that of its file', async () => {
      for (const name of Object.keys(jobs))
        assert.ok(fs.existsSync(new URL(`../../src/jobs/${name}.ts`, import.meta.url)), name)
    })

    test('two workers share the mails: each is sent once', async () => {
      const sink = await startSink()
      const [service] = services
      assert.ok(service)
      const numbers = Array.from({ length: 40 }, (_, i) => String(i))
      await db.transaction(async tx => {
        for (const number of numbers) await queueVoucherMail(tx, keys, service, { ...gift, number })
      })
      const workers = [1, 2].map(() => work(jobs, smtpPost(sink.url)))
      await until(
        async () => (await db.run(sql`select from mail where status = 'sent'`)) === 40,
        'all are sent',
        20_000,
      )
      await Promise.all(workers.map(worker => worker.stop(5_000)))
      for (const number of numbers) assert.equal(messageIds(sink, number).length, 1, number)
      assert.equal(await db.run(sql`select from job where name = 'send-mail'`), 0)
      await sink.close()
    })

    test('a job of set times runs at once, then again after its time, for the installation or for each service', async () => {
      const runs: string[] = []
      const worker = work({
        whole: job(async ({ service }) => void runs.push(`whole ${service?.name}`), { everySeconds: 1 }),
        each: job(async ({ service }) => void runs.push(`each ${service?.name}`), {
          everySeconds: 3_600,
          perService: true,
        }),
      })
      await until(() => runs.filter(name => name === 'whole undefined').length >= 2, 'it runs twice')
      await until(() => runs.length >= 4, 'each service has had its turn')
      await worker.stop(1_000)
      assert.deepEqual(runs.filter(name => name.startsWith('each')).sort(), ['each luma', 'each orso'])
      assert.equal((await state('whole'))?.attempts, 0)
    })

    test('a job that throws waits longer each time, without holding up the others', async () => {
      let attempts = 0
      let others = 0
      const worker = work({
        fails: job(async () => {
          attempts++
          throw new Error('not today')
        }),
        other: job(async () => void others++, { everySeconds: 1 }),
      })
      await addJob(db, null, 'fails')
      for (const seconds of [30, 60, 60]) {
        const before = attempts
        await until(() => attempts > before, 'it is tried')
        await until(async () => ((await state('fails'))?.wait ?? 0) > 1, 'it waits')
        const { wait = 0, lease } = (await state('fails')) ?? {}
        assert.ok(Math.abs(wait - seconds) < 5, `${wait} s`)
        assert.equal(lease, null)
        await db.run(sql`update job set due_at = now() where name = 'fails'`)
      }
      assert.ok(others >= 1)
      await worker.stop(1_000)
    })

    test('a stop waits for what runs, and gives back what takes too long', async () => {
      const signals: AbortSignal[] = []
      const started = Promise.withResolvers<void>()
      const finish = Promise.withResolvers<void>()
      const patient = work({
        slow: job(async ({ signal }) => {
          signals.push(signal)
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
        endless: job(async ({ signal }) => {
          endless.resolve(signal)
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
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

    test('a job that takes longer than a lease keeps it, and nobody else begins it', async () => {
      const began: string[] = []
      const table = (name: string) => ({
        long: job(async () => {
          began.push(name)
          await delay(24_000)
        }),
      })
      await addJob(db, null, 'long')
      const workers = ['first', 'second'].map(name => work(table(name)))
      await until(async () => began.length > 0 && !(await state('long')), 'it is done', 40_000)
      assert.equal(began.length, 1)
      await Promise.all(workers.map(worker => worker.stop(1_000)))
    })

    test('a worker whose job was taken over is told to break off', async () => {
      const taken = Promise.withResolvers<Work>()
      const worker = work({
        lost: job(async one => {
          taken.resolve(one)
          await new Promise((_, reject) => one.signal.addEventListener('abort', () => reject(one.signal.reason)))
        }),
      })
      await addJob(db, null, 'lost')
      const { signal, stillMine } = await taken.promise
      assert.equal(await stillMine(), true)
      await db.run(sql`update job set lease = gen_random_uuid() where name = 'lost'`)
      assert.equal(await stillMine(), false)
      await until(() => signal.aborted, 'it is told', 8_000)
      await worker.stop(1_000)
      assert.equal((await state('lost'))?.attempts, 1, 'and leaves the job to whoever has it')
    })

    test('connections that are cut do not end it', async () => {
      let runs = 0
      const worker = work({ steady: job(async () => void runs++, { everySeconds: 1 }) })
      await until(() => runs > 0, 'it runs')
      for (let i = 0; i < 5; i++) {
        await db
          .run(
            sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
          )
          .catch(() => {})
        await delay(100)
      }
      const before = runs
      await until(() => runs > before, 'it runs on')
      await worker.stop(1_000)
    })
  })
})
