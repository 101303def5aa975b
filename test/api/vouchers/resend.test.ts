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
/** The IDs of the emails whose files Tillbridge deletes if emails are stored as files. */
const deletedIds: string[] = []
before(async () => {
  api = await startTestApi({ settings: voucherSettings })
  await stockGiftCards(api, api)
  sink = await startSink()
  const deleteFile = async (messageId: string) => void deletedIds.push(messageId)
  const transport = Object.assign(createSmtpTransport(sink.url), { deleteFile: deleteFile })
  worker = startWorker({ db: api.db, keys: api.keys, log: pino({ level: 'silent' }), mailTransport: transport })
})
after(async () => {
  await worker?.stop(0)
  await sink?.close()
  await api?.stop()
})

const resend = (number: string, body: object = {}, headers: Record<string, string> = {}) =>
  post(api, `/vouchers/${number}/resend`, body, headers)
const getLookUpStatus = async (number: string, pin: string) =>
  (await post(api, '/vouchers/lookup', { number, pin })).status
const listEmails = async (number: string) => (await api.get(`/vouchers/${number}/ledger`)).json.data.emails
/** Waits until a voucher's newest email has this status. */
const waitForEmail = (status: string, number: string) =>
  waitUntil(async () => (await listEmails(number))[0].status === status, `the email is ${status}`)
const listSent = (number: string) => sink.delivered.filter(({ text }) => text?.includes(number))
const findPin = (text = '') => /PIN: +(\S+)/.exec(text)?.[1] ?? ''
/** Back-dates earlier requests. */
const backDateRequests = (interval: string) =>
  api.db.run(sql`update audit set changed_at = changed_at - ${interval}::interval`)

test('a resent voucher gets one new PIN, however often it is requested', async () => {
  const { number, pin } = (await issueVoucher(api)).json.data
  await waitForEmail('sent', number)
  const keys = ['one', 'one', 'two', 'two']
  const responses = await Promise.all(keys.map(key => resend(number, {}, { 'idempotency-key': key })))
  const [winner = '', ...losers] = new Set(keys.filter((_, i) => responses[i]?.status === 200))
  assert.deepEqual(losers, [])
  for (const { status, json, headers } of responses) {
    if (status === 200) continue
    assert.match(json.code, /^(rate_limited|idempotency_in_progress)$/)
    assert.ok(Number(headers['retry-after']) <= 60)
  }
  const repeated = await resend(number, {}, { 'idempotency-key': winner })
  assert.equal(repeated.headers['idempotent-replayed'], 'true')
  await waitForEmail('sent', number)
  const [first, second, ...more] = listSent(number)
  assert.deepEqual([more.length, second?.receivers], [0, ['ann.lee@example.com']])
  assert.match(second?.text ?? '', /This is a new PIN\./)
  assert.equal(findPin(first?.text), pin)
  const renewed = findPin(second?.text)
  assert.notEqual(renewed, pin)
  assert.deepEqual([await getLookUpStatus(number, pin), await getLookUpStatus(number, renewed)], [403, 200])
  assert.doesNotMatch(repeated.text, new RegExp(`"pin"|${renewed}`))
  const [newest, oldest] = await listEmails(number)
  assert.deepEqual([newest.status, newest.attempts, newest.lastError, oldest.status], ['sent', 1, null, 'sent'])
  const entries = (await api.get(`/audit?record=/vouchers/${number}`)).json.data
  assert.deepEqual(
    entries.map(({ operation }: { operation: string }) => operation),
    ['POST /vouchers', 'POST /vouchers/:number/resend'],
  )
})

test('a voucher can be resent five times a day, even during sales', async () => {
  const { number, pin } = (await issueVoucher(api)).json.data
  await waitForEmail('sent', number)
  const { validationId } = (await post(api, `/vouchers/${number}/lock`, { pin })).json.data
  for (let i = 0; i < 5; i++) {
    assert.equal((await resend(number)).status, 200)
    await backDateRequests('2 minutes')
  }
  const rejected = await resend(number)
  assert.equal(rejected.json.code, 'rate_limited')
  assert.ok(Number(rejected.headers['retry-after']) > 80_000)
  assert.equal((await post(api, `/vouchers/${number}/lock`, { validationId })).status, 200)
  await backDateRequests('1 day')
  assert.equal((await resend(number)).status, 200)
})

test('a rejected email reports its cause and can go to another address', async () => {
  await waitUntil(async () => !(await api.db.run(sql`select from job where name = 'send-email'`)), 'no email is queued')
  sink.faults.push({ at: 'rcpt', code: 550 }, { at: 'rcpt', code: 550 })
  const voucher = (await issueVoucher(api)).json.data
  await waitForEmail('failed', voucher.number)
  const moved = (await issueVoucher(api, { message: 'Happy birthday!' })).json.data
  await waitForEmail('failed', moved.number)
  assert.match((await listEmails(moved.number))[0].lastError, /rejected the message/)

  await resend(voucher.number)
  await resend(moved.number, { receiverEmail: 'bea@example.com' })
  for (const { number } of [voucher, moved]) await waitForEmail('sent', number)
  const [sent] = listSent(voucher.number)
  const [redirected, ...more] = listSent(moved.number)
  assert.deepEqual([findPin(sent?.text), (await listEmails(voucher.number)).length], [voucher.pin, 1])
  assert.deepEqual([more.length, redirected?.receivers], [0, ['bea@example.com']])
  assert.match(redirected?.text ?? '', /> Happy birthday!/)
  assert.deepEqual(
    [await getLookUpStatus(moved.number, moved.pin), await getLookUpStatus(moved.number, findPin(redirected?.text))],
    [403, 200],
  )
  assert.equal((await api.get(`/vouchers/${moved.number}/ledger`)).json.data.receiverEmail, 'bea@example.com')
  const listMessageIds = async (number: string) =>
    api.db.rows<{ id: string }>(
      sql`select message_id as id from email where voucher_number = ${number} order by created_at`,
    )
  const [oldReceiver, newReceiver] = await listMessageIds(moved.number)
  await waitUntil(() => deletedIds.length > 0, 'the file of the previous email is deleted')
  assert.deepEqual([deletedIds, oldReceiver?.id === newReceiver?.id], [[oldReceiver?.id], false])
})

test('an email without stored text is resent with a new PIN', async () => {
  sink.faults.push({ at: 'rcpt', code: 550 })
  const { number, pin } = (await issueVoucher(api)).json.data
  await waitForEmail('failed', number)
  assert.equal((await listEmails(number))[0].isContentStored, true)
  await api.db.run(sql`update email set created_at = created_at - interval '31 days' where voucher_number = ${number}`)
  await purgeFailedEmails(api.db)
  assert.equal((await listEmails(number))[0].isContentStored, false)
  assert.equal((await resend(number)).status, 200)
  await waitForEmail('sent', number)
  assert.notEqual(findPin(listSent(number)[0]?.text), pin)
})

test('a replaced email is reported once', async () => {
  await waitUntil(async () => !(await api.db.run(sql`select from job where name = 'send-email'`)), 'no email is queued')
  sink.faults.push({ at: 'rcpt', code: 550 })
  const { number } = (await issueVoucher(api)).json.data
  await waitForEmail('failed', number)
  for (const name of ['bea', 'cleo']) {
    await backDateRequests('1 day')
    const response = await resend(number, { receiverEmail: `${name}@example.com` })
    assert.equal(response.status, 200, response.text)
    await waitForEmail('sent', number)
  }
  assert.equal((await listEmails(number)).length, 3)
  const { lastError } = (await listEmails(number)).at(-1)
  assert.match(lastError, /rejected the message/)
  assert.equal(lastError.split('Another one was sent instead.').length, 2, lastError)
})

test('a scheduled email keeps waiting; unusable or unknown vouchers are not sent', async () => {
  const deliveryDate = Temporal.Now.plainDateISO('Australia/Melbourne').add({ days: 3 }).toString()
  const { number } = (await issueVoucher(api, { deliveryDate })).json.data
  assert.equal((await resend(number)).json.data.email.status, 'queued')
  const [email, ...more] = await listEmails(number)
  assert.deepEqual([more.length, email.dueAt], [0, `${deliveryDate} 00:00:00`])
  await post(api, `/vouchers/${number}/suspend`, {})
  assert.equal((await resend(number)).json.reason, 'suspended')
  assert.equal((await resend(await newVoucher(api))).json.code, 'capability_unavailable')
  const path = `/vouchers/${number}/resend`
  const maintainer = await api.createAccount('maintainer', api.service)
  assertProblem(await post(maintainer, path, {}), 'insufficient_role', api.baseUrl, path)
})
