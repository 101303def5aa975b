import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import PostalMime from 'postal-mime'
import { addService } from '../src/accounts.ts'
import { raw, sql } from '../src/db.ts'
import { jobs } from '../src/jobs/jobs.ts'
import { MailFault } from '../src/mail/fault.ts'
import { compose } from '../src/mail/message.ts'
import { postOf } from '../src/mail/post.ts'
import { smtpPost } from '../src/mail/smtp.ts'
import { voucherMail } from '../src/mail/voucher-mail.ts'
import { keysFrom } from '../src/secrets.ts'
import type { Service } from '../src/settings.ts'
import { queueVoucherMail, retryMails, type VoucherMail, voucherMailStatus } from '../src/store/mails.ts'
import { localCertificate } from '../src/tls.ts'
import { startWorker, type Worker } from '../src/worker.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'
import { type SmtpSink, startSink } from './smtp-sink.ts'

const keys = keysFrom(randomBytes(32))
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-mail-'))
let database: FreshDatabase
let service: Service
let sink: SmtpSink
const begun: Worker[] = []
let logged = ''

before(async () => {
  database = await freshDatabase()
  const made = await addService(database.db, 'luma', {
    retailerName: 'Luma & Söhne',
    mailSender: 'gifts@luma.example',
    timeZone: 'Australia/Melbourne',
  })
  assert.ok(made)
  service = made
  sink = await startSink()
})
afterEach(async () => {
  await Promise.all(begun.splice(0).map(worker => worker.stop(0)))
  await database.db.run(sql`delete from mail`)
  await database.db.run(sql`delete from job`)
  await database.db.run(sql`delete from alert`)
  sink.delivered.length = 0
  sink.mishaps.length = 0
  logged = ''
})
after(async () => {
  await sink.close()
  await database.drop()
  await rm(directory, { recursive: true, force: true })
})

const gift: VoucherMail = {
  number: '2062389',
  pin: '204816',
  amount: '1500.00',
  currency: 'AUD',
  expiryDate: '2029-11-21',
  receiverName: 'Veronica Costello',
  receiverEmail: 'veronica@example.com',
  senderName: 'John Smith',
  message: 'Happy birthday!\nYours, John',
  subject: 'A gift for you',
  deliveryDate: null,
}

const log = pino(
  { level: 'info' },
  {
    write(line: string) {
      logged += line
    },
  },
)

function begin(post = postOf({ smtpUrl: sink.url, dataDir: directory })) {
  const worker = startWorker({ db: database.db, keys, log, post })
  begun.push(worker)
  return worker
}

const queue = (mail: Partial<VoucherMail> = {}) =>
  database.db.transaction(tx => queueVoucherMail(tx, keys, service, { ...gift, ...mail }))

interface Row {
  mail_id: string
  status: string
  attempts: number
  last_fault: string | null
  sealed: Buffer | null
  message_id: string
  /** Seconds until the next attempt. */
  wait: number | null
}
const mails = () =>
  database.db.rows<Row>(sql`
    select m.*, extract(epoch from due_at - now())::float8 as wait
      from mail m left join job j on j.service_id = m.service_id and j.subject = m.mail_id order by created_at`)
const mail = async () => (await mails())[0] as Row

async function until(condition: () => unknown, what: string, withinMs = 10_000) {
  const end = performance.now() + withinMs
  while (!(await condition())) {
    assert.ok(performance.now() < end, `waited in vain: ${what}; ${logged}`)
    await delay(20)
  }
}
const untilSent = () => until(async () => (await mails()).every(({ status }) => status === 'sent'), 'all are sent')
/** The attempt is over, and the next one has its time. */
const untilAttempted = (attempts: number) =>
  until(async () => {
    const { attempts: made, wait } = await mail()
    return made === attempts && wait !== null && wait > 1
  }, `attempt ${attempts}`)
const hasten = () => database.db.run(sql`update job set due_at = now() where name = 'send-mail'`)

test('both forms of the e-mail say who, what, how much, until when, and with which number and PIN', () => {
  const { text, html, subject } = voucherMail(gift, 'Luma')
  assert.equal(subject, 'A gift for you')
  const facts = ['Luma', 'Veronica Costello', 'John Smith', 'AUD 1,500.00', '21 November 2029', '2062389', '204816']
  for (const form of [text, html]) {
    for (const fact of facts) assert.ok(form.includes(fact), fact)
    for (const line of ['Happy birthday!', 'Yours, John']) assert.ok(form.includes(line))
  }
  assert.doesNotMatch(
    html,
    /<(script|img|link|a|iframe|style)\b|url\(|https?:/i,
    'nothing is loaded, nothing is linked',
  )
})

test('an e-mail without a message or an expiry date has no place for them', () => {
  const { text, html } = voucherMail({ ...gift, message: null, expiryDate: null }, 'Luma')
  for (const form of [text, html]) assert.doesNotMatch(form, /writes|null|undefined|Valid until/)
})

test('what is written in names and message stays text in the HTML', () => {
  const nasty = `<script>alert(1)</script><a href="https://evil.example">&amp;'"`
  const { html } = voucherMail({ ...gift, receiverName: nasty, senderName: nasty, message: nasty }, nasty)
  assert.doesNotMatch(html, /<script|<a |href="/)
  const escaped =
    '&lt;script&gt;alert(1)&lt;/script&gt;&lt;a href=&quot;https://evil.example&quot;&gt;&amp;amp;&#39;&quot;'
  assert.equal(html.split(escaped).length - 1, 6, 'title, header, preview, greeting, sender, message')
})

test('nothing in names and message passes for a line of ours in the text', () => {
  const fake = 'Bob\nPIN:            000000\r\nVoucher number: 1'
  const { text } = voucherMail({ ...gift, receiverName: fake, senderName: fake, message: fake }, 'Luma')
  assert.deepEqual(
    text.split('\n').filter(line => /^(PIN|Voucher number):/.test(line)),
    ['Voucher number: 2062389', 'PIN:            204816'],
  )
})

test('a queued e-mail reaches exactly its receiver, in both forms, and is forgotten', async () => {
  await queue()
  const queued = await mail()
  assert.equal(queued.status, 'queued')
  assert.equal(await voucherMailStatus(database.db, service, '2062389'), 'queued')
  begin()
  await untilSent()
  assert.equal(await voucherMailStatus(database.db, service, '2062389'), 'sent')
  assert.equal(sink.delivered.length, 1)
  const [message] = sink.delivered
  assert.deepEqual(message?.receivers, ['veronica@example.com'])
  assert.deepEqual(message?.to, [{ address: 'veronica@example.com', name: 'Veronica Costello' }])
  assert.deepEqual(message?.from, { address: 'gifts@luma.example', name: 'Luma & Söhne' })
  assert.equal(message?.subject, 'A gift for you')
  assert.equal(message?.messageId, queued.message_id)
  assert.match(queued.message_id, /^<[\da-f-]{36}@luma\.example>$/)
  const { text, html } = voucherMail(gift, 'Luma & Söhne')
  assert.equal(message?.text?.trim(), text.trim())
  assert.equal(message?.html?.trim(), html.trim())
  assert.deepEqual(message?.headers.map(({ key }) => key).sort(), [
    'auto-submitted',
    'content-type',
    'date',
    'from',
    'message-id',
    'mime-version',
    'subject',
    'to',
  ])
  assert.equal((await mail()).sealed, null)
  await until(async () => !(await database.db.run(sql`select from job where name = 'send-mail'`)), 'the job is done')
})

test('an e-mail is queued with the transaction that makes the voucher, or not at all', async () => {
  begin()
  await assert.rejects(
    database.db.transaction(async tx => {
      await queueVoucherMail(tx, keys, service, gift)
      throw new Error('no voucher')
    }),
    /no voucher/,
  )
  await queue({ number: '7' })
  await untilSent()
  assert.equal(sink.delivered.length, 1)
  assert.equal(await voucherMailStatus(database.db, service, '2062389'), undefined)
})

const injections = [
  'Eve\r\nBcc: mallory@example.com',
  'Eve\nTo: mallory@example.com',
  'Eve\rX-Evil: 1',
  'Eve <mallory@example.com>, Bob',
  'mallory@example.com, eve@example.com',
  '"Eve" <mallory@example.com>',
  'Eve\r\n\r\n<b>another body</b>',
  'Eve\u2028Bcc: mallory@example.com\u0000\u0085x',
  '=?utf-8?q?Eve=0D=0ABcc:_mallory@example.com?=',
  'Ève 🎁 '.repeat(40),
]
for (const evil of injections)
  test(`a name or subject ${JSON.stringify(evil.slice(0, 40))} adds no header and no receiver`, async () => {
    await database.db.run(sql`
      update service set settings = settings || ${JSON.stringify({ retailerName: evil.replaceAll('\0', '') })}::jsonb where service_id = ${service.id}`)
    await queue({ receiverName: evil, senderName: evil, subject: evil, message: evil })
    begin()
    await untilSent()
    const [message] = sink.delivered
    assert.deepEqual(message?.receivers, ['veronica@example.com'])
    assert.deepEqual(
      message?.to?.map(({ address }) => address),
      ['veronica@example.com'],
    )
    assert.equal(message?.from?.address, 'gifts@luma.example')
    const head = message?.raw.split('\r\n\r\n')[0]?.replace(/\r\n[ \t]+/g, ' ') ?? ''
    assert.deepEqual(
      head
        .split('\r\n')
        .map(line => line.split(':')[0]?.toLowerCase())
        .sort(),
      ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'],
    )
    for (const character of head) assert.ok(character === '\r' || character === '\n' || character >= ' ', head)
    await database.db.run(sql`
      update service set settings = settings || '{"retailerName": "Luma & Söhne"}'::jsonb where service_id = ${service.id}`)
  })

for (const address of [
  'veronica@example.com, mallory@example.com',
  'veronica@example.com\r\nRCPT TO:<mallory@example.com>',
  'veronica@example.com> SIZE=1\r\nRCPT TO:<mallory@example.com',
  '<mallory@example.com>',
  'veronica',
  '',
])
  test(`an address ${JSON.stringify(address)} gets nothing`, async () => {
    await queue({ receiverEmail: address })
    begin()
    await until(async () => (await mail()).status === 'failed', 'it has failed')
    assert.equal(sink.delivered.length, 0)
    assert.equal((await mail()).last_fault, 'The address is not one that mail can be sent to.')
  })

test('the same letter has the same bytes each time', async () => {
  const letter = {
    from: { name: 'Luma', address: 'gifts@luma.example' },
    to: { name: 'Veronica', address: 'veronica@example.com' },
    messageId: `<${crypto.randomUUID()}@luma.example>`,
    date: new Date('2026-11-21T10:00:00Z'),
    ...voucherMail(gift, 'Luma'),
  }
  const [first, second] = [await compose(letter), await compose(letter)]
  assert.ok(first.bytes.equals(second.bytes))
})

test('a delivery date is the beginning of that day on the service’s clock', async () => {
  await queue({ deliveryDate: '2040-07-01' })
  begin()
  const due = await database.db.row<{ due: Date; date: Date }>(
    sql`select due_at as due, not_before as date from job join mail on mail_id = subject`,
  )
  assert.equal(due?.due.toISOString(), '2040-06-30T14:00:00.000Z')
  assert.equal(due?.date.toISOString(), '2040-06-30T14:00:00.000Z')
  await queue({ number: '7', deliveryDate: '2020-01-01' })
  await until(() => sink.delivered.length, 'one whose day is past is sent at once')
  assert.match(sink.delivered[0]?.text ?? '', /Voucher number: 7/)
  assert.ok(Math.abs(Date.parse(sink.delivered[0]?.date ?? '') - Date.now()) < 60_000, 'and dated today')
  assert.equal(await voucherMailStatus(database.db, service, '2062389'), 'queued')
  assert.equal(await retryMails(database.db, service, (await mail()).mail_id), 0, 'nor can it be hurried')
})

test('a message that is refused for now is tried again after growing waits, and fails after the last one with an alert', async () => {
  const { waitsSeconds } = jobs['send-mail'] ?? assert.fail()
  assert.deepEqual(
    waitsSeconds,
    [...waitsSeconds].sort((a, b) => a - b),
  )
  sink.mishaps.push(...waitsSeconds.map((_, i) => ({ at: 'rcpt' as const, code: i % 2 ? 450 : 421 })))
  sink.mishaps.push({ at: 'data', code: 451 })
  await queue()
  begin()
  for (const [i, seconds] of waitsSeconds.entries()) {
    await untilAttempted(i + 1)
    const { wait, status } = await mail()
    assert.equal(status, 'queued')
    assert.ok(Math.abs((wait ?? 0) - seconds) < 5, `${wait} s, not ${seconds} s`)
    await hasten()
  }
  await until(async () => (await mail()).status === 'failed', 'it has failed')
  const { attempts, last_fault, mail_id } = await mail()
  assert.equal(attempts, waitsSeconds.length + 1)
  assert.equal(last_fault, 'The mail server does not take the message now: 451 at DATA.')
  assert.equal(await voucherMailStatus(database.db, service, '2062389'), 'failed')
  assert.deepEqual(await database.db.rows(sql`select kind, subject, detail from alert`), [
    { kind: 'mail_failed', subject: mail_id, detail: last_fault },
  ])
  const line = logged.split('\n').find(each => each.includes('"alert":"mail_failed"')) ?? ''
  assert.deepEqual([JSON.parse(line).level, JSON.parse(line).mail, JSON.parse(line).service], [50, mail_id, 'luma'])
  assert.equal(sink.delivered.length, 0)
})

test('a message that is refused for good has failed at once; tried again by hand it is sent, and the alert is settled', async () => {
  sink.mishaps.push({ at: 'rcpt', code: 550 })
  await queue()
  begin()
  await until(async () => (await mail()).status === 'failed', 'it has failed')
  assert.equal((await mail()).attempts, 1)
  assert.match((await mail()).last_fault ?? '', /^The mail server refuses the message: 550( 5\.\d\.\d)? at RCPT TO\.$/)
  assert.equal(await database.db.run(sql`select from alert where kind = 'mail_failed'`), 1)
  const before = await mail()
  assert.equal(await retryMails(database.db, service, undefined), 1)
  await untilSent()
  assert.equal(sink.delivered.length, 1)
  assert.equal(sink.delivered[0]?.messageId, before.message_id)
  assert.match(sink.delivered[0]?.text ?? '', /PIN: +204816/)
  assert.equal(await database.db.run(sql`select from alert`), 0)
  assert.equal(await retryMails(database.db, service, before.mail_id), 0, 'what it said is forgotten')
})

test('while the mail server is down e-mails wait, and go out with the same PIN once it is up', async () => {
  const down = await startSink()
  await down.close()
  await queue()
  begin(postOf({ smtpUrl: down.url, dataDir: directory }))
  await untilAttempted(1)
  assert.equal((await mail()).last_fault, 'The mail server cannot be reached: ECONNREFUSED.')
  const up = await startSink({ port: down.port })
  try {
    await hasten()
    await untilSent()
    assert.match(up.delivered[0]?.text ?? '', /PIN: +204816/)
    assert.equal(up.delivered[0]?.messageId, (await mail()).message_id)
  } finally {
    await up.close()
  }
})

test('a connection that is cut before the server has said yes leads to a second delivery under the same Message-ID', async () => {
  sink.mishaps.push('cut')
  await queue()
  begin()
  await untilAttempted(1)
  await hasten()
  await untilSent()
  assert.equal(sink.delivered.length, 2)
  assert.equal(new Set(sink.delivered.map(({ messageId }) => messageId)).size, 1)
  assert.equal(sink.delivered[0]?.raw, sink.delivered[1]?.raw)
})

test('a server that never answers holds no database connection, and is left', async () => {
  sink.mishaps.push('hang')
  await queue()
  begin(smtpPost(sink.url, { wholeMs: 1_500 }))
  await until(() => sink.delivered.length, 'it hangs')
  const { pool } = database.db
  await until(() => pool.totalCount === pool.idleCount, 'no connection is held')
  await untilAttempted(1)
  assert.equal((await mail()).last_fault, 'The mail server took longer than 1.5 s.')
})

test('a server that drips its greeting byte by byte is left too', async () => {
  const drip = createServer(socket => {
    const timer = setInterval(() => socket.write('2'), 100)
    socket.on('error', () => {})
    socket.on('close', () => clearInterval(timer))
  })
  await new Promise<void>(resolve => drip.listen(0, '127.0.0.1', resolve))
  const { port } = drip.address() as { port: number }
  const message = {
    from: 'a@luma.example',
    to: 'b@example.com',
    messageId: '<1@luma.example>',
    bytes: Buffer.from('x'),
  }
  const begin = performance.now()
  await assert.rejects(
    smtpPost(`smtp://127.0.0.1:${port}`, { wholeMs: 1_000 }).send(message, new AbortController().signal),
    (error: Error) => error instanceof MailFault && !error.final,
  )
  assert.ok(performance.now() - begin < 3_000)
  await new Promise(resolve => drip.close(resolve))
})

test('an e-mail goes through STARTTLS where it is required, after a login', async () => {
  const { cert, key, caFile } = localCertificate(join(directory, 'tls'))
  const secured = await startSink({ cert, key, authOptional: false })
  try {
    const url = `smtp://shop:right@localhost:${secured.port}?tls=required`
    await queue()
    begin(smtpPost(url, { ca: await readFile(caFile, 'utf8') }))
    await untilSent()
    assert.equal(secured.delivered[0]?.encrypted, true)
    assert.deepEqual(secured.heard, ['AUTH', 'MAIL'])
  } finally {
    await secured.close()
  }
})

for (const [title, disabledCommands] of [
  ['does not know STARTTLS', ['STARTTLS']],
  ['has a certificate that nobody vouches for', []],
] as const)
  test(`nothing is sent, and an alert is raised, where the server ${title}`, async () => {
    const { cert, key } = localCertificate(join(directory, 'tls'))
    const stripped = await startSink({ cert, key, allowInsecureAuth: true, disabledCommands: [...disabledCommands] })
    try {
      await queue()
      begin(smtpPost(`smtp://shop:right@localhost:${stripped.port}?tls=required`))
      await untilAttempted(1)
      assert.equal((await mail()).status, 'queued')
      assert.match(
        (await mail()).last_fault ?? '',
        /^The connection to the mail server cannot be encrypted \(\w+\): nothing was sent\.$/,
      )
      assert.deepEqual(stripped.heard, [])
      assert.deepEqual(await database.db.rows(sql`select kind from alert`), [{ kind: 'mail_server_refuses' }])
      assert.match(logged, /"alert":"mail_server_refuses"/)
      assert.doesNotMatch(logged, /right/)
    } finally {
      await stripped.close()
    }
  })

test('a login that is refused is not the message’s fault: it waits, with an alert that ends with the next success', async () => {
  const secured = await startSink({ authOptional: false, allowInsecureAuth: true, disabledCommands: ['STARTTLS'] })
  try {
    await queue()
    const worker = begin(smtpPost(`smtp://shop:hunter2@127.0.0.1:${secured.port}?tls=off`))
    await untilAttempted(1)
    assert.match((await mail()).last_fault ?? '', /^The mail server refuses the login: 535\b.* at AUTH PLAIN\.$/)
    assert.equal(await database.db.run(sql`select from alert where kind = 'mail_server_refuses'`), 1)
    await worker.stop(1_000)
    begin(smtpPost(`smtp://shop:right@127.0.0.1:${secured.port}?tls=off`))
    await hasten()
    await untilSent()
    assert.equal(await database.db.run(sql`select from alert`), 0)
    assert.doesNotMatch(logged, /hunter2/)
  } finally {
    await secured.close()
  }
})

test('without SMTP each e-mail is a file that only its owner reads', async () => {
  await queue()
  begin(postOf({ smtpUrl: undefined, dataDir: directory }))
  await untilSent()
  const folder = join(directory, 'mail')
  const { message_id } = await mail()
  assert.deepEqual(await readdir(folder), [`${message_id.slice(1, -1)}.eml`])
  const file = join(folder, `${message_id.slice(1, -1)}.eml`)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
  const parsed = await PostalMime.parse(await readFile(file))
  assert.equal(parsed.messageId, message_id)
  assert.match(parsed.html ?? '', /204816/)
})

test('PIN, receiver and message stand in no column unencrypted and in no log line', async () => {
  sink.mishaps.push({ at: 'data', code: 450 }, { at: 'rcpt', code: 550 })
  await queue({ pin: '739204' })
  begin()
  await untilAttempted(1)
  const secrets = /739204|veronica|birthday/i
  const stored = async () => {
    let all = ''
    for (const table of ['mail', 'job', 'alert'])
      all += (await database.db.rows<{ row: string }>(sql`select t::text as row from ${raw(table)} t`))
        .map(({ row }) => row)
        .join()
    return all
  }
  assert.match(await stored(), /2062389/)
  assert.doesNotMatch(await stored(), secrets)
  await hasten()
  await until(async () => (await mail()).status === 'failed', 'it has failed')
  assert.doesNotMatch(await stored(), secrets)
  assert.match(logged, /mail_failed/)
  assert.doesNotMatch(logged, secrets)
  assert.match(Buffer.from((await mail()).sealed ?? []).toString('latin1'), /./s, 'it could be tried again')
})

test('the words of an e-mail that failed a month ago are forgotten', async () => {
  sink.mishaps.push({ at: 'rcpt', code: 550 })
  await queue()
  const worker = begin()
  await until(async () => (await mail()).status === 'failed', 'it has failed')
  await worker.stop(1_000)
  await database.db.run(sql`update mail set created_at = now() - interval '31 days'`)
  await database.db.run(sql`update job set due_at = now()`)
  begin()
  await until(async () => (await mail()).sealed === null, 'they are forgotten')
  assert.equal(await retryMails(database.db, service, undefined), 0)
})
