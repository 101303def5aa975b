import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { raw, sql } from '../../../src/database/db.ts'
import { defaultSettings } from '../../../src/domain/tenancy/service-settings.ts'
import { renderAlertEmail } from '../../../src/mail/alert-email.ts'
import { compose } from '../../../src/mail/message.ts'
import { openMailTransport } from '../../../src/mail/transport.ts'
import { renderVoucherEmail } from '../../../src/mail/voucher-email.ts'
import { queueVoucherEmail, retryEmails } from '../../../src/store/mail/emails.ts'
import { getVoucherMailStatus, giftEmail, setUpMailing } from '../../support/mailing.ts'

const mailing = setUpMailing()
const luma = { ...defaultSettings, retailerName: 'Luma' }
const { startMailWorker, makeDue, getMail, queueMail, waitUntil, waitUntilAttempted, waitUntilFailed, waitUntilSent } =
  mailing

/** Changes settings of the service. Null resets a setting. */
const changeSettings = (change: Record<string, string | null>) =>
  mailing.db.run(
    sql`update service set settings = jsonb_strip_nulls(settings || ${JSON.stringify(change)}::jsonb) where service_id = ${mailing.service.id}`,
  )

test('both email forms contain names, amount, expiry, number and PIN', () => {
  const { text, html, subject } = renderVoucherEmail(giftEmail, luma)
  assert.equal(subject, 'A gift for you')
  const facts = ['Luma', 'Veronica Costello', 'John Smith', 'AUD 1,500.00', '21 November 2029', '2062389', '204816']
  for (const form of [text, html]) {
    for (const fact of facts) assert.ok(form.includes(fact), fact)
    for (const line of ['Happy birthday!', 'Yours, John']) assert.ok(form.includes(line))
  }
  assert.doesNotMatch(
    html,
    /<(script|img|link|a|iframe)\b|url\(|@import|https?:/i,
    'the email must not load or link anything',
  )
})

test("the email has the retailer's logo, colour, shop button and support address", async () => {
  const settings = {
    logoUrl: 'https://luma.example/logo.png?a=1&b=2',
    brandColour: '#FFD400',
    shopUrl: 'https://luma.example/gift-vouchers',
    supportEmail: 'help@luma.example',
  }
  await changeSettings(settings)
  await queueMail({ number: '9123456789012345' })
  startMailWorker()
  await waitUntilSent()
  const [{ html = '', text = '' } = {}] = mailing.sink.delivered
  assert.match(html, /<img src="https:\/\/luma\.example\/logo\.png\?a=1&amp;b=2" alt="Luma &amp; Söhne" height="40"/)
  assert.match(html, /background: #FFD400; [^"]*color: #1d2b2a"/, 'text on a light colour must be dark')
  assert.match(html, /<a href="https:\/\/luma\.example\/gift-vouchers"[^>]*>Shop at Luma &amp; Söhne<\/a>/)
  assert.match(html, /<a class="link" href="mailto:help@luma\.example"/)
  const help =
    'To check the balance, enter the voucher number and PIN at luma.example. Questions? Write to help@luma.example, but never send your PIN.'
  assert.ok(text.includes(help), text)
  assert.ok(html.replace(/<[^>]+>/g, '').includes(help))
  assert.match(text, /^Shop: {11}https:\/\/luma\.example\/gift-vouchers$/m)
  assert.match(text, /^Voucher number: 9123456789012345$/m)
  assert.match(html.replace(/<[^>]+>/g, ''), /\b9123456789012345\b/, 'the number must be one word when copied')
  assert.deepEqual(
    [...html.matchAll(/nowrap[^>]*>(\w+)</g)].map(([, part]) => part),
    ['9123', '4567', '8901', '2345', '204816'],
  )
  await changeSettings(Object.fromEntries(Object.keys(settings).map(name => [name, null])))
})

test('an alert is emailed with its problem, remedy and links', async () => {
  await changeSettings({ alertEmail: 'operations@luma.example' })
  mailing.sink.faults.push({ at: 'rcpt', code: 550 })
  await queueMail()
  startMailWorker(undefined, 'https://api.example.com')
  await waitUntil(() => mailing.sink.delivered.length, 'the alert email is delivered')
  await changeSettings({ alertEmail: null })
  const [{ receivers, subject, text = '', html = '' } = { receivers: [] }] = mailing.sink.delivered
  const { email_id: id } = await getMail()
  assert.deepEqual(
    [receivers, subject],
    [['operations@luma.example'], '[Tillbridge] luma: Voucher email could not be sent'],
  )
  assert.match(text, /^The mail server rejected the message: 550/)
  assert.ok(text.includes(`What to do: Fix the cause, then run tillbridge mail retry ${id} --service luma.`), text)
  for (const link of [
    'https://api.example.com/console#/luma/overview',
    'https://api.example.com/docs/operate/runbooks#email_failed',
  ]) {
    assert.ok(text.includes(`: ${link}\n`), text)
    assert.ok(html.includes(`<a href="${link}">`), html)
  }
  assert.match(text, /alertEmail of the service luma/)
})

test('an alert email links to the sync or webhook of the alert', () => {
  for (const [kind, subject, screen] of [
    ['sync_failing', 'stock', 'syncs/stock'],
    ['webhook_expired', '5b0c3f52', 'webhooks/5b0c3f52'],
    ['back_office_denied', '', 'syncs'],
    ['email_failed', '12', 'overview'],
  ] as const) {
    const { text } = renderAlertEmail('luma', { kind, subject, detail: '' }, 'https://api.example.com')
    assert.ok(text.includes(`: https://api.example.com/console#/luma/${screen}\n`), text)
  }
})

test("the email shows the amount with all of the voucher's decimals", () => {
  const { text, html } = renderVoucherEmail({ ...giftEmail, amount: '1500.50', currency: 'HUF' }, luma)
  for (const form of [text, html]) assert.match(form, /HUF 1,500\.50/)
})

test('an email without message or expiry date omits their sections', () => {
  const { text, html } = renderVoucherEmail({ ...giftEmail, message: null, expiryDate: null }, luma)
  for (const form of [text, html]) assert.doesNotMatch(form, /with this message|null|undefined|Valid until/)
})

test('names and messages are escaped in the HTML', () => {
  const markup = `<script>alert(1)</script><a href="https://evil.example">&amp;'"`
  const { html } = renderVoucherEmail(
    { ...giftEmail, receiverName: markup, senderName: markup, message: markup },
    { ...luma, retailerName: markup },
  )
  assert.doesNotMatch(html, /<script|<a |href="/)
  const escaped =
    '&lt;script&gt;alert(1)&lt;/script&gt;&lt;a href=&quot;https://evil.example&quot;&gt;&amp;amp;&#39;&quot;'
  assert.equal(html.split(escaped).length - 1, 7, 'title, header, preview, greeting, sender, message, balance')
})

test('names and messages cannot imitate our lines in the text', () => {
  const imitation = 'Bob\nPIN:            000000\r\nVoucher number: 1'
  const { text } = renderVoucherEmail(
    { ...giftEmail, receiverName: imitation, senderName: imitation, message: imitation },
    luma,
  )
  assert.deepEqual(
    text.split('\n').filter(line => /^(PIN|Voucher number):/.test(line)),
    ['Voucher number: 2062389', 'PIN:            204816'],
  )
})

test('a queued email reaches only its recipient and is then deleted', async () => {
  await queueMail()
  const queued = await getMail()
  assert.equal(queued.status, 'queued')
  assert.equal(await getVoucherMailStatus(mailing.db, mailing.service, '2062389'), 'queued')
  startMailWorker()
  await waitUntilSent()
  assert.equal(await getVoucherMailStatus(mailing.db, mailing.service, '2062389'), 'sent')
  assert.equal(mailing.sink.delivered.length, 1)
  const [message] = mailing.sink.delivered
  assert.deepEqual(message?.receivers, ['veronica@example.com'])
  assert.deepEqual(message?.to, [{ address: 'veronica@example.com', name: 'Veronica Costello' }])
  assert.deepEqual(message?.from, { address: 'gifts@luma.example', name: 'Luma & Söhne' })
  assert.equal(message?.subject, 'A gift for you')
  assert.equal(message?.messageId, queued.message_id)
  assert.match(queued.message_id, /^<[\da-f-]{36}@luma\.example>$/)
  const { text, html } = renderVoucherEmail(giftEmail, mailing.service.settings)
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
  assert.equal((await getMail()).encrypted_content, null)
  await waitUntil(
    async () => !(await mailing.db.run(sql`select from job where name = 'send-email'`)),
    'the job is done',
  )
})

test("an email is queued in its voucher's transaction", async () => {
  startMailWorker()
  await assert.rejects(
    mailing.db.transaction(async tx => {
      await queueVoucherEmail(tx, mailing.keys, mailing.service, giftEmail)
      throw new Error('no voucher')
    }),
    /no voucher/,
  )
  await queueMail({ number: '7' })
  await waitUntilSent()
  assert.equal(mailing.sink.delivered.length, 1)
  assert.equal(await getVoucherMailStatus(mailing.db, mailing.service, '2062389'), undefined)
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
for (const injection of injections)
  test(`a name or subject ${JSON.stringify(injection.slice(0, 40))} adds no header or recipient`, async () => {
    await changeSettings({ retailerName: injection.replaceAll('\0', '') })
    await queueMail({ receiverName: injection, senderName: injection, subject: injection, message: injection })
    startMailWorker()
    await waitUntilSent()
    const [message] = mailing.sink.delivered
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
    await changeSettings({ retailerName: 'Luma & Söhne' })
  })

for (const address of [
  'veronica@example.com, mallory@example.com',
  'veronica@example.com\r\nRCPT TO:<mallory@example.com>',
  'veronica@example.com> SIZE=1\r\nRCPT TO:<mallory@example.com',
  '<mallory@example.com>',
  'veronica',
  '',
])
  test(`an address ${JSON.stringify(address)} receives nothing`, async () => {
    await queueMail({ receiverEmail: address })
    startMailWorker()
    await waitUntilFailed()
    assert.equal(mailing.sink.delivered.length, 0)
    assert.equal((await getMail()).last_error, 'The email address is invalid. Correct it.')
  })

test('one message always has the same bytes', async () => {
  const message = {
    from: { name: 'Luma', address: 'gifts@luma.example' },
    to: { name: 'Veronica', address: 'veronica@example.com' },
    messageId: `<${crypto.randomUUID()}@luma.example>`,
    date: new Date('2026-11-21T10:00:00Z'),
    ...renderVoucherEmail(giftEmail, luma),
  }
  const [first, second] = [await compose(message), await compose(message)]
  assert.ok(first.bytes.equals(second.bytes))
})

test("a delivery date starts at midnight in the service's time zone", async () => {
  await queueMail({ deliveryDate: '2040-07-01' })
  startMailWorker()
  const due = await mailing.db.row<{ due: Date; date: Date }>(
    sql`select due_at as due, not_before as date from job join email on email_id = subject`,
  )
  assert.equal(due?.due.toISOString(), '2040-06-30T14:00:00.000Z')
  assert.equal(due?.date.toISOString(), '2040-06-30T14:00:00.000Z')
  await queueMail({ number: '7', deliveryDate: '2020-01-01' })
  await waitUntil(() => mailing.sink.delivered.length, 'the email with a past delivery date is sent')
  assert.match(mailing.sink.delivered[0]?.text ?? '', /Voucher number: 7/)
  assert.ok(Math.abs(Date.parse(mailing.sink.delivered[0]?.date ?? '') - Date.now()) < 60_000, 'it must be dated today')
  assert.equal(await getVoucherMailStatus(mailing.db, mailing.service, '2062389'), 'queued')
  assert.equal(
    await retryEmails(mailing.db, mailing.service, (await getMail()).email_id),
    0,
    "a scheduled email can't be retried",
  )
})

test('each email becomes a private file without SMTP', async () => {
  await queueMail()
  const folder = join(mailing.directory, 'mail')
  const { message_id } = await getMail()
  const drafts = `${folder}.drafts`
  await mkdir(drafts, { mode: 0o700 })
  // The draft of a killed process. No Linux has a process with this ID.
  await writeFile(join(drafts, `.${message_id.slice(1, -1)}.eml.${hostname()}.4194305.part`), 'PIN: 204816')
  startMailWorker(openMailTransport({ smtpUrl: undefined, dataDir: mailing.directory }))
  await waitUntilSent()
  assert.deepEqual(await readdir(folder), [`${message_id.slice(1, -1)}.eml`])
  const file = join(folder, `${message_id.slice(1, -1)}.eml`)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.deepEqual(await readdir(drafts), [])
  for (const path of [folder, drafts]) assert.equal((await stat(path)).mode & 0o777, 0o700)
  const parsed = await PostalMime.parse(await readFile(file))
  assert.equal(parsed.messageId, message_id)
  assert.match(parsed.html ?? '', /204816/)
})

test('PIN, recipient and message are stored encrypted and never logged', async () => {
  mailing.sink.faults.push({ at: 'data', code: 450 }, { at: 'rcpt', code: 550 })
  await queueMail({ pin: '739204' })
  startMailWorker()
  await waitUntilAttempted(1)
  const secrets = /739204|veronica|birthday/i
  const dumpTables = async () => {
    let dump = ''
    for (const table of ['email', 'job', 'alert'])
      dump += (await mailing.db.rows<{ row: string }>(sql`select t::text as row from ${raw(table)} t`))
        .map(({ row }) => row)
        .join()
    return dump
  }
  assert.match(await dumpTables(), /2062389/)
  assert.doesNotMatch(await dumpTables(), secrets)
  await makeDue()
  await waitUntilFailed()
  assert.doesNotMatch(await dumpTables(), secrets)
  assert.match(mailing.logText, /email_failed/)
  assert.doesNotMatch(mailing.logText, secrets)
  assert.match(
    Buffer.from((await getMail()).encrypted_content ?? []).toString('latin1'),
    /./s,
    'the content must be kept for a retry',
  )
})

test('the text of a failed email is purged after a month', async () => {
  mailing.sink.faults.push({ at: 'rcpt', code: 550 })
  await queueMail()
  const worker = startMailWorker()
  await waitUntilFailed()
  await worker.stop(1_000)
  await mailing.db.run(sql`update email set created_at = now() - interval '31 days'`)
  await mailing.db.run(sql`update job set due_at = now()`)
  startMailWorker()
  await waitUntil(async () => (await getMail()).encrypted_content === null, 'the content is deleted')
  assert.equal(await retryEmails(mailing.db, mailing.service, undefined), 0)
})
