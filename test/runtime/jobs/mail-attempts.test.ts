import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { jobs } from '../../../src/jobs/jobs.ts'
import { DeliveryFailed } from '../../../src/mail/message.ts'
import { createSmtpTransport } from '../../../src/mail/smtp-transport.ts'
import { openMailTransport } from '../../../src/mail/transport.ts'
import { leaseDueJobs } from '../../../src/store/jobs/jobs.ts'
import { retryEmails } from '../../../src/store/mail/emails.ts'
import { ensureLocalCertificate } from '../../../src/tls/tls.ts'
import { getVoucherMailStatus, setUpMailing } from '../../support/mailing.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { startSink } from '../../support/smtp-sink.ts'

const mailing = setUpMailing()
const { startMailWorker, makeDue, getMail, queueMail, waitUntil, waitUntilAttempted, waitUntilFailed, waitUntilSent } =
  mailing

test('a temporarily rejected message is retried, then fails with an alert', async () => {
  const { retryDelaysSeconds } = jobs['send-email'] ?? assert.fail()
  assert.deepEqual(
    retryDelaysSeconds,
    [...retryDelaysSeconds].sort((a, b) => a - b),
  )
  mailing.sink.faults.push(...retryDelaysSeconds.map((_, i) => ({ at: 'rcpt' as const, code: i % 2 ? 450 : 421 })))
  mailing.sink.faults.push({ at: 'data', code: 451 })
  await queueMail()
  startMailWorker()
  for (const [i, seconds] of retryDelaysSeconds.entries()) {
    await waitUntilAttempted(i + 1)
    const { wait, status } = await getMail()
    assert.equal(status, 'queued')
    assert.ok(Math.abs((wait ?? 0) - seconds) < 5, `${wait} s, not ${seconds} s`)
    await makeDue()
  }
  await waitUntilFailed()
  const { attempts, last_error, email_id } = await getMail()
  assert.equal(attempts, retryDelaysSeconds.length + 1)
  assert.equal(last_error, 'The mail server rejected the message temporarily: 451 at DATA.')
  assert.equal(await getVoucherMailStatus(mailing.db, mailing.service, '2062389'), 'failed')
  assert.deepEqual(await mailing.db.rows(sql`select kind, subject, detail from alert`), [
    { kind: 'email_failed', subject: email_id, detail: last_error },
  ])
  const line = mailing.logText.split('\n').find(text => text.includes('"alert":"email_failed"')) ?? ''
  assert.deepEqual([JSON.parse(line).level, JSON.parse(line).mail, JSON.parse(line).service], [50, email_id, 'luma'])
  assert.equal(mailing.sink.delivered.length, 0)
})

test('attempts of killed workers do not count', async () => {
  const { retryDelaysSeconds } = jobs['send-email'] ?? assert.fail()
  await queueMail()
  for (const _ of retryDelaysSeconds) {
    assert.equal((await leaseDueJobs(mailing.db, { 'send-email': { free: 1 } }, 20)).length, 1)
    await mailing.db.run(sql`update job set leased_until = now()`)
  }
  mailing.sink.faults.push({ at: 'rcpt', code: 450 })
  startMailWorker()
  await waitUntil(async () => (await getMail()).last_error, 'the email is rejected')
  const { status, wait } = await getMail()
  assert.equal(status, 'queued')
  assert.ok(Math.abs((wait ?? 0) - (retryDelaysSeconds[0] ?? 0)) < 5, `${wait} s`)
})

test('a permanently rejected message fails until it is resent manually', async () => {
  mailing.sink.faults.push({ at: 'rcpt', code: 550 })
  await queueMail()
  startMailWorker()
  await waitUntilFailed()
  assert.equal((await getMail()).attempts, 1)
  assert.match(
    (await getMail()).last_error ?? '',
    /^The mail server rejected the message: 550( 5\.\d\.\d)? at RCPT TO\.$/,
  )
  const countAlerts = () => mailing.db.run(sql`select from alert where kind = 'email_failed'`)
  await waitUntil(async () => (await countAlerts()) === 1, 'an alert is raised')
  const before = await getMail()
  assert.equal(await retryEmails(mailing.db, mailing.service, undefined), 1)
  await waitUntilSent()
  assert.equal(mailing.sink.delivered.length, 1)
  assert.equal(mailing.sink.delivered[0]?.messageId, before.message_id)
  assert.match(mailing.sink.delivered[0]?.text ?? '', /PIN: +204816/)
  assert.equal(await mailing.db.run(sql`select from alert`), 0)
  assert.equal(
    await retryEmails(mailing.db, mailing.service, before.email_id),
    0,
    'the content of a sent email is deleted',
  )
})

test('a rejected message that was replaced raises no alert', async () => {
  mailing.sink.faults.push({ at: 'rcpt', code: 550 })
  await queueMail()
  const { db } = mailing
  await db.transaction(async tx => {
    await tx.run(
      sql`update email set status = 'failed', encrypted_content = null, last_error = 'Another one was sent instead.'`,
    )
    startMailWorker()
    // The worker is about to record the failure.
    await waitForBlockedConnections(mailing)
  })
  await waitUntil(async () => (await db.run(sql`select from job where name = 'send-email'`)) === 0, 'the job is over')
  assert.deepEqual(
    [(await getMail()).last_error, await db.run(sql`select from alert`)],
    ['Another one was sent instead.', 0],
  )
})

test('emails wait during an outage and keep their PIN', async () => {
  const down = await startSink()
  await down.close()
  await queueMail()
  startMailWorker(openMailTransport({ smtpUrl: down.url, dataDir: mailing.directory }))
  await waitUntilAttempted(1)
  assert.equal((await getMail()).last_error, 'The mail server is unreachable: ECONNREFUSED.')
  const up = await startSink({ port: down.port })
  try {
    await makeDue()
    await waitUntilSent()
    assert.match(up.delivered[0]?.text ?? '', /PIN: +204816/)
    assert.equal(up.delivered[0]?.messageId, (await getMail()).message_id)
  } finally {
    await up.close()
  }
})

test('an unconfirmed message is repeated with the same Message-ID', async () => {
  mailing.sink.faults.push('cut')
  await queueMail()
  startMailWorker()
  await waitUntilAttempted(1)
  await makeDue()
  await waitUntilSent()
  assert.equal(mailing.sink.delivered.length, 2)
  assert.equal(new Set(mailing.sink.delivered.map(({ messageId }) => messageId)).size, 1)
  assert.equal(mailing.sink.delivered[0]?.raw, mailing.sink.delivered[1]?.raw)
})

test('an unresponsive mail server holds no database connection and times out', async () => {
  mailing.sink.faults.push('hang')
  await queueMail()
  startMailWorker(createSmtpTransport(mailing.sink.url, { totalTimeoutMs: 1_500 }))
  await waitUntil(() => mailing.sink.delivered.length, 'the mail server has received the message')
  const { pool } = mailing.db
  await waitUntil(() => pool.totalCount === pool.idleCount, 'no connection is held')
  await waitUntilAttempted(1)
  assert.equal((await getMail()).last_error, 'The mail server took longer than 1.5 s.')
})

test('a mail server with a slow greeting times out', async () => {
  const slowServer = createServer(socket => {
    const timer = setInterval(() => socket.write('2'), 100)
    socket.on('error', () => {})
    socket.on('close', () => clearInterval(timer))
  })
  await new Promise<void>(resolve => slowServer.listen(0, '127.0.0.1', resolve))
  const { port } = slowServer.address() as { port: number }
  const message = {
    from: 'a@luma.example',
    to: 'b@example.com',
    messageId: '<1@luma.example>',
    bytes: Buffer.from('x'),
  }
  const startedAt = performance.now()
  await assert.rejects(
    createSmtpTransport(`smtp://127.0.0.1:${port}`, { totalTimeoutMs: 1_000 }).send(
      message,
      new AbortController().signal,
    ),
    (error: Error) => error instanceof DeliveryFailed && !error.isPermanent,
  )
  assert.ok(performance.now() - startedAt < 3_000)
  await new Promise(resolve => slowServer.close(resolve))
})

test('a required STARTTLS is used before the login', async () => {
  const { cert, key, caFile } = ensureLocalCertificate(join(mailing.directory, 'tls'))
  const secured = await startSink({ cert, key, authOptional: false })
  try {
    const url = `smtp://shop:right@localhost:${secured.port}?tls=required`
    await queueMail()
    startMailWorker(createSmtpTransport(url, { ca: await readFile(caFile, 'utf8') }))
    await waitUntilSent()
    assert.equal(secured.delivered[0]?.encrypted, true)
    assert.deepEqual(secured.commands, ['AUTH', 'MAIL'])
  } finally {
    await secured.close()
  }
})

for (const [title, disabledCommands] of [
  ['does not know STARTTLS', ['STARTTLS']],
  ['has an untrusted certificate', []],
] as const)
  test(`nothing is sent and an alert is raised if the server ${title}`, async () => {
    const { cert, key } = ensureLocalCertificate(join(mailing.directory, 'tls'))
    const stripped = await startSink({ cert, key, allowInsecureAuth: true, disabledCommands: [...disabledCommands] })
    try {
      await queueMail()
      startMailWorker(createSmtpTransport(`smtp://shop:right@localhost:${stripped.port}?tls=required`))
      await waitUntilAttempted(1)
      assert.equal((await getMail()).status, 'queued')
      assert.match(
        (await getMail()).last_error ?? '',
        /^The connection to the mail server can't be encrypted \(\w+\), so the email was not sent\.$/,
      )
      assert.deepEqual(stripped.commands, [])
      assert.deepEqual(await mailing.db.rows(sql`select kind from alert`), [{ kind: 'email_server_rejecting' }])
      assert.match(mailing.logText, /"alert":"email_server_rejecting"/)
      assert.doesNotMatch(mailing.logText, /right/)
    } finally {
      await stripped.close()
    }
  })

test('a rejected login raises an alert and keeps messages waiting until success', async () => {
  const secured = await startSink({ authOptional: false, allowInsecureAuth: true, disabledCommands: ['STARTTLS'] })
  try {
    await queueMail()
    const worker = startMailWorker(createSmtpTransport(`smtp://shop:hunter2@127.0.0.1:${secured.port}?tls=off`))
    await waitUntilAttempted(1)
    assert.match((await getMail()).last_error ?? '', /^The mail server rejected the login: 535\b.* at AUTH PLAIN\.$/)
    assert.equal(await mailing.db.run(sql`select from alert where kind = 'email_server_rejecting'`), 1)
    await worker.stop(1_000)
    startMailWorker(createSmtpTransport(`smtp://shop:right@127.0.0.1:${secured.port}?tls=off`))
    await makeDue()
    await waitUntilSent()
    assert.equal(await mailing.db.run(sql`select from alert`), 0)
    assert.doesNotMatch(mailing.logText, /hunter2/)
  } finally {
    await secured.close()
  }
})
