import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { sql } from '../../../src/database/db.ts'
import { startWorker, type Worker } from '../../../src/jobs/worker.ts'
import { createSmtpTransport } from '../../../src/mail/smtp-transport.ts'
import { purgeFailedEmails } from '../../../src/store/mail/emails.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'
import { type SmtpSink, startSink } from '../../support/smtp-sink.ts'
import { issueVoucher, newVoucher, stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

let api: TestApi
let sink: SmtpSink
let worker: Worker | undefined
/** The mails whose files would be taken away, where mails are files. */
const forgotten: string[] = []
before(async () => {
  api = await startTestApi({ settings: voucherSettings })
  await stockGiftCards(api, api)
  sink = await startSink()
  const forget = async (messageId: string) => void forgotten.push(messageId)
  const transport = Object.assign(createSmtpTransport(sink.url), { deleteFile: forget })
  worker = startWorker({ db: api.db, keys: api.keys, log: pino({ level: 'silent' }), mailTransport: transport })
})
after(async () => {
  await worker?.stop(0)
  await sink?.close()
  await api?.stop()
})

const again = (number: string, body: object = {}, headers: Record<string, string> = {}) =>
  post(api, `/vouchers/${number}/resend`, body, headers)
const opens = async (number: string, pin: string) => (await post(api, '/vouchers/lookup', { number, pin })).status
const emails = async (number: string) => (await api.get(`/vouchers/${number}/ledger`)).json.data.emails
/** Waits until a voucher's newest email has this status. */
const has = (status: string, number: string) =>
  waitUntil(async () => (await emails(number))[0].status === status, `the e-mail is ${status}`)
const listSent = (number: string) => sink.delivered.filter(({ text }) => text?.includes(number))
const pinIn = (text = '') => /PIN: +(\S+)/.exec(text)?.[1] ?? ''
/** Back-dates earlier requests. */
const wait = (interval: string) => api.db.run(sql`update audit set changed_at = changed_at - ${interval}::interval`)

test('a resent voucher gets one new PIN, however often it is requested', async () => {
  const { number, pin } = (await issueVoucher(api)).json.data
  await has('sent', number)
  const keys = ['one', 'one', 'two', 'two']
  const responses = await Promise.all(keys.map(key => again(number, {}, { 'idempotency-key': key })))
  const [winner = '', ...losers] = new Set(keys.filter((_, i) => responses[i]?.status === 200))
  assert.deepEqual(losers, [])
  for (const { status, json, headers } of responses) {
    if (status === 200) continue
    assert.match(json.code, /^(rate_limited|idempotency_in_progress)$/)
    assert.ok(Number(headers['retry-after']) <= 60)
  }
  const repeated = await again(number, {}, { 'idempotency-key': winner })
  assert.equal(repeated.headers['idempotent-replayed'], 'true')
  await has('sent', number)
  const [first, second, ...more] = listSent(number)
  assert.deepEqual([more.length, second?.receivers], [0, ['ann.lee@example.com']])
  assert.match(second?.text ?? '', /This is a new PIN\./)
  assert.equal(pinIn(first?.text), pin)
  const renewed = pinIn(second?.text)
  assert.notEqual(renewed, pin)
  assert.deepEqual([await opens(number, pin), await opens(number, renewed)], [403, 200])
  assert.doesNotMatch(repeated.text, new RegExp(`"pin"|${renewed}`))
  const [newest, oldest] = await emails(number)
  assert.deepEqual([newest.status, newest.attempts, newest.lastError, oldest.status], ['sent', 1, null, 'sent'])
  const written = (await api.get(`/audit?record=/vouchers/${number}`)).json.data
  assert.deepEqual(
    written.map(({ operation }: { operation: string }) => operation),
    ['POST /vouchers', 'POST /vouchers/:number/resend'],
  )
})

test('a voucher can be resent five times a day, even during sales', async () => {
  const { number, pin } = (await issueVoucher(api)).json.data
  await has('sent', number)
  const { validationId } = (await post(api, `/vouchers/${number}/lock`, { pin })).json.data
  for (let i = 0; i < 5; i++) {
    assert.equal((await again(number)).status, 200)
    await wait('2 minutes')
  }
  const rejected = await again(number)
  assert.equal(rejected.json.code, 'rate_limited')
  assert.ok(Number(rejected.headers['retry-after']) > 80_000)
  assert.equal((await post(api, `/vouchers/${number}/lock`, { validationId })).status, 200)
  await wait('1 day')
  assert.equal((await again(number)).status, 200)
})

test('a rejected email reports its cause and can go to another address', async () => {
  await waitUntil(
    async () => !(await api.db.run(sql`select from job where name = 'send-email'`)),
    'nothing is on its way',
  )
  sink.faults.push({ at: 'rcpt', code: 550 }, { at: 'rcpt', code: 550 })
  const voucher = (await issueVoucher(api)).json.data
  await has('failed', voucher.number)
  const moved = (await issueVoucher(api, { message: 'Happy birthday!' })).json.data
  await has('failed', moved.number)
  assert.match((await emails(moved.number))[0].lastError, /rejected the message/)

  await again(voucher.number)
  await again(moved.number, { receiverEmail: 'bea@example.com' })
  for (const { number } of [voucher, moved]) await has('sent', number)
  const [sent] = listSent(voucher.number)
  const [elsewhere, ...more] = listSent(moved.number)
  assert.deepEqual([pinIn(sent?.text), (await emails(voucher.number)).length], [voucher.pin, 1])
  assert.deepEqual([more.length, elsewhere?.receivers], [0, ['bea@example.com']])
  assert.match(elsewhere?.text ?? '', /> Happy birthday!/)
  assert.deepEqual(
    [await opens(moved.number, moved.pin), await opens(moved.number, pinIn(elsewhere?.text))],
    [403, 200],
  )
  assert.equal((await api.get(`/vouchers/${moved.number}/ledger`)).json.data.receiverEmail, 'bea@example.com')
  const to = async (number: string) =>
    api.db.rows<{ id: string }>(
      sql`select message_id as id from email where voucher_number = ${number} order by created_at`,
    )
  const [oldReceiver, newReceiver] = await to(moved.number)
  await waitUntil(() => forgotten.length > 0, 'what was left for the address before is taken away')
  assert.deepEqual([forgotten, oldReceiver?.id === newReceiver?.id], [[oldReceiver?.id], false])
})

test('an email without stored text is resent with a new PIN', async () => {
  sink.faults.push({ at: 'rcpt', code: 550 })
  const { number, pin } = (await issueVoucher(api)).json.data
  await has('failed', number)
  assert.equal((await emails(number))[0].isContentStored, true)
  await api.db.run(sql`update email set created_at = created_at - interval '31 days' where voucher_number = ${number}`)
  await purgeFailedEmails(api.db)
  assert.equal((await emails(number))[0].isContentStored, false)
  assert.equal((await again(number)).status, 200)
  await has('sent', number)
  assert.notEqual(pinIn(listSent(number)[0]?.text), pin)
})

test('a replaced email is reported once', async () => {
  await waitUntil(
    async () => !(await api.db.run(sql`select from job where name = 'send-email'`)),
    'nothing is on its way',
  )
  sink.faults.push({ at: 'rcpt', code: 550 })
  const { number } = (await issueVoucher(api)).json.data
  await has('failed', number)
  for (const name of ['bea', 'cleo']) {
    await wait('1 day')
    const response = await again(number, { receiverEmail: `${name}@example.com` })
    assert.equal(response.status, 200, response.text)
    await has('sent', number)
  }
  assert.equal((await emails(number)).length, 3)
  const { lastError } = (await emails(number)).at(-1)
  assert.match(lastError, /rejected the message/)
  assert.equal(lastError.split('Another one was sent instead.').length, 2, lastError)
})

test('a scheduled email keeps waiting; unusable or unknown vouchers are not sent', async () => {
  const deliveryDate = Temporal.Now.plainDateISO('Australia/Melbourne').add({ days: 3 }).toString()
  const { number } = (await issueVoucher(api, { deliveryDate })).json.data
  assert.equal((await again(number)).json.data.email.status, 'queued')
  const [email, ...more] = await emails(number)
  assert.deepEqual([more.length, email.dueAt], [0, `${deliveryDate} 00:00:00`])
  await post(api, `/vouchers/${number}/suspend`, {})
  assert.equal((await again(number)).json.reason, 'suspended')
  assert.equal((await again(await newVoucher(api))).json.code, 'capability_unavailable')
  const path = `/vouchers/${number}/resend`
  const maintainer = await api.createAccount('maintainer', api.service)
  assertProblem(await post(maintainer, path, {}), 'insufficient_role', api.baseUrl, path)
})
