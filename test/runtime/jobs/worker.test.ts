import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { type Database, openDatabase, sql } from '../../../src/database/db.ts'
import { raiseAlert } from '../../../src/store/alerts/alerts.ts'
import { queueVoucherEmail } from '../../../src/store/mail/emails.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { install } from '../../support/installations/installations.ts'
import { giftEmail } from '../../support/mailing.ts'
import {
  createDirectory,
  type Environment,
  findPostgresPid,
  runCommand,
  runSuccessfully,
  serve,
  startCommand,
  stopServer,
  waitUntil,
} from '../../support/processes.ts'
import { listMessageIds, startSink } from '../../support/smtp-sink.ts'

/** Creates the service `luma` in the database of an installation. `queueEmail` queues a voucher email, as a server does. */
async function createWriter(dataDir: string) {
  const db = openDatabase(JSON.parse(fs.readFileSync(join(dataDir, 'database.json'), 'utf8')), { onFault: () => {} })
  const keys = deriveKeys(fs.readFileSync(join(dataDir, 'secret'), 'utf8').trim())
  const service = await addService(db, 'luma')
  assert.ok(service)
  return {
    db,
    service,
    queueEmail: (number: string) =>
      db.transaction(tx => queueVoucherEmail(tx, keys, service, { ...giftEmail, number })),
  }
}

const getEmailStatus = async (db: Database, number: string) =>
  (await db.row<{ status: string }>(sql`select status from email where voucher_number = ${number}`))?.status

// Concurrent, because the tests mostly wait for leases to expire.
describe('worker processes', { concurrency: true }, () => {
  test('a worker killed while sending causes at most one duplicate email', async t => {
    const environment: Environment = { DATA_DIR: join(createDirectory(), 'data') }
    const sink = await startSink()
    const server = await serve(['--no-demo'], { ...(await install(environment)), RUN_JOBS: 'false' })
    assert.match(server.out, /^Background jobs are off \(RUN_JOBS=false\)\. Run them with: tillbridge worker$/m)
    const { db, service, queueEmail } = await createWriter(environment.DATA_DIR ?? '')
    const startWorker = (overrides: Environment = {}) =>
      startCommand(['worker'], { ...environment, SMTP_URL: sink.url, LOG_LEVEL: 'warn', ...overrides })
    try {
      const killed: Record<string, number> = {}
      for (const crashPoint of ['before_smtp', 'after_smtp', 'before_mark_sent']) {
        await queueEmail(crashPoint)
        const victim = startWorker({ FAILPOINT: crashPoint })
        assert.deepEqual(await victim.ended, { code: null, signal: 'SIGKILL' }, victim.err)
        killed[crashPoint] = performance.now()
        assert.equal(listMessageIds(sink, crashPoint).length, crashPoint === 'before_smtp' ? 0 : 1)
        assert.equal(await getEmailStatus(db, crashPoint), 'queued')
      }
      await queueEmail('halted')
      const halted = startWorker({ FAILPOINT: 'before_smtp:stop' })
      const readState = () => fs.readFileSync(`/proc/${halted.pid}/stat`, 'utf8').split(') ')[1]?.[0]
      await waitUntil(() => readState() === 'T', 'the worker is halted')

      const healthy = startWorker()
      for (const [crashPoint, at] of Object.entries(killed)) {
        await waitUntil(async () => (await getEmailStatus(db, crashPoint)) === 'sent', crashPoint, 60_000)
        const ids = listMessageIds(sink, crashPoint)
        assert.equal(ids.length, crashPoint === 'before_smtp' ? 1 : 2)
        assert.equal(new Set(ids).size, 1)
        t.diagnostic(`killed at ${crashPoint}: sent ${Math.round((performance.now() - at) / 100) / 10} s later`)
      }
      await waitUntil(
        async () => (await getEmailStatus(db, 'halted')) === 'sent',
        'another worker sends the email',
        60_000,
      )
      // The halted worker keeps its leases.
      await db.run(sql`
        insert into stock_reservation (service_id, id, account, expires_at) values (${service.id}, 'r1', 'ann', clock_timestamp() + interval '1 s')`)
      const isEnded = async () => !(await db.row(sql`select true as found from stock_reservation where id = 'r1'`))
      await waitUntil(isEnded, 'another worker ends the reservation', 2_500)
      halted.child.kill('SIGCONT')
      await queueEmail('after')
      await waitUntil(async () => (await getEmailStatus(db, 'after')) === 'sent', 'the next email is sent')
      await stopServer(halted)
      assert.equal(listMessageIds(sink, 'halted').length, 1, 'the halted worker must not send the email again')

      // The server restarts the killed PostgreSQL.
      process.kill(findPostgresPid(environment.DATA_DIR ?? '') ?? 0, 'SIGKILL')
      await waitUntil(
        () =>
          queueEmail('restarted').then(
            () => true,
            () => false,
          ),
        'PostgreSQL accepts connections',
        20_000,
      )
      await waitUntil(
        async () => (await getEmailStatus(db, 'restarted').catch(() => '')) === 'sent',
        'the restarted email is sent',
        20_000,
      )
      assert.deepEqual(await stopServer(healthy), { code: 0, signal: null }, healthy.err)
      assert.doesNotMatch(healthy.err + server.err, /204816|veronica/)
    } finally {
      await db.close()
      await stopServer(server)
      await sink.close()
    }
  })

  test('a server killed before recording a delivery sends it again', async t => {
    const environment: Environment = { DATA_DIR: join(createDirectory(), 'data') }
    const sink = await startSink()
    try {
      await install(environment)
      const victim = await serve(['--no-demo'], { ...environment, SMTP_URL: sink.url, FAILPOINT: 'after_smtp' })
      assert.match(victim.out, /^Emails are sent through 127\.0\.0\.1:\d+\.$/m)
      const first = await createWriter(environment.DATA_DIR ?? '')
      await first.queueEmail('1')
      assert.deepEqual(await victim.ended, { code: null, signal: 'SIGKILL' })
      const killedAt = performance.now()
      await first.db.close()
      assert.equal(sink.delivered.length, 1)

      const server = await serve(['--no-demo'], { ...environment, SMTP_URL: sink.url })
      await waitUntil(() => sink.delivered.length === 2, 'the email is sent again', 60_000)
      const tookMs = performance.now() - killedAt
      t.diagnostic(`sent ${Math.round(tookMs / 100) / 10} s after the kill`)
      assert.ok(tookMs < 60_000)
      assert.equal(new Set(listMessageIds(sink, '1')).size, 1)
      assert.match(await runSuccessfully(['mail', 'list'], environment), / 1 +sent /)
      assert.deepEqual(await stopServer(server), { code: 0, signal: null }, server.err)
      assert.equal(sink.delivered.length, 2)
    } finally {
      await sink.close()
    }
  })

  test('emails without a mail server become files that commands can retry', async () => {
    const environment: Environment = { DATA_DIR: join(createDirectory(), 'data'), WEB_CONCURRENCY: '2' }
    const dataDir = environment.DATA_DIR ?? ''
    const server = await serve(['--no-demo'], await install(environment))
    assert.match(server.out, /^Emails are written to \S+\/data\/mail\. To send them, set SMTP_URL\.$/m)
    const { db, queueEmail } = await createWriter(dataDir)
    try {
      await queueEmail('1')
      await waitUntil(async () => (await getEmailStatus(db, '1')) === 'sent', 'the email file is written')
      assert.equal(fs.readdirSync(join(dataDir, 'mail')).length, 1)
      assert.match(
        await runSuccessfully(['mail', 'list', '--status', 'sent'], environment),
        /^[\da-f-]{36} +1 +sent +1 /m,
      )
      assert.doesNotMatch(await runSuccessfully(['mail', 'list', '--status', 'failed'], environment), /sent +1/)
      const { out, ...outcome } = await runCommand(['mail', 'retry', 'nothing'], environment)
      assert.equal(outcome.code, 1)
      assert.match(outcome.err, /^tillbridge: Email nothing can't be retried/)

      fs.rmSync(join(dataDir, 'mail'), { recursive: true })
      fs.writeFileSync(join(dataDir, 'mail'), 'not a folder')
      await queueEmail('2')
      await waitUntil(
        async () =>
          (await runSuccessfully(['mail', 'list', '--status', 'queued'], environment)).includes(
            'The email could not be composed',
          ),
        'the error is listed',
      )
      assert.match(server.err, /"job":"send-email","service":"\w+",.*"msg":"job failed, will retry"/)
      fs.rmSync(join(dataDir, 'mail'))
      const [id] =
        /^[\da-f]{8}-[\da-f-]{27}/m.exec(await runSuccessfully(['mail', 'list', '--status', 'queued'], environment)) ??
        []
      assert.match(await runSuccessfully(['mail', 'retry', id ?? ''], environment), /^1 email will be retried\.$/m)
      await waitUntil(async () => (await getEmailStatus(db, '2')) === 'sent', 'the email file is written')
    } finally {
      await db.close()
      assert.deepEqual(await stopServer(server), { code: 0, signal: null }, server.err)
    }
  })

  test('alerts are listed, reported by doctor and resolved manually', async () => {
    const environment: Environment = { DATA_DIR: join(createDirectory(), 'data') }
    const server = await serve(['--no-demo'], await install(environment))
    const { db, service: luma } = await createWriter(environment.DATA_DIR ?? '')
    await raiseAlert(db, luma.id, { kind: 'voucher_pin_guessing', subject: '2062389', detail: 'After 5 wrong PINs.' })
    await raiseAlert(db, luma.id, { kind: 'voucher_pin_guessing', subject: '2062389', detail: 'After 6 wrong PINs.' })
    await db.close()
    const listed = await runSuccessfully(['alert', 'list'], environment)
    assert.match(listed, /^luma +voucher_pin_guessing +2062389 +2 +\S+ \S+ +After 6 wrong PINs\.$/m)
    const { code, out } = await runCommand(['doctor'], environment)
    assert.equal(code, 1)
    assert.match(out, /^FAIL {2}Alerts +luma: voucher_pin_guessing\. Run "tillbridge alert list"\.$/m)
    assert.match(
      await runSuccessfully(['alert', 'resolve', 'voucher_pin_guessing'], environment),
      /^1 alert resolved\.$/m,
    )
    assert.match((await runCommand(['doctor'], environment)).out, /^PASS +Alerts +none$/m)
    assert.equal((await runCommand(['alert', 'resolve', 'voucher_pin_guessing'], environment)).code, 1)
    assert.deepEqual(await stopServer(server), { code: 0, signal: null }, server.err)
  })

  test('a worker without a server reports it', async () => {
    const { code, err } = await runCommand(['worker'], await install({ DATA_DIR: join(createDirectory(), 'data') }))
    assert.equal(code, 1)
    assert.match(
      err,
      /tillbridge: The bundled database is not running\. Run "tillbridge start" first, or set DATABASE_URL\./,
    )
  })
})
