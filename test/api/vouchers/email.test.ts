import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { pino } from 'pino'
import { sql } from '../../../src/database/db.ts'
import { startWorker, type Worker } from '../../../src/jobs/worker.ts'
import { createSmtpTransport } from '../../../src/mail/smtp-transport.ts'
import { waitUntil } from '../../support/processes.ts'
import { startTestApi } from '../../support/service.ts'
import { startSink } from '../../support/smtp-sink.ts'
import { issueVoucher, stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

const api = await startTestApi({ settings: { ...voucherSettings, retailerName: 'Luma' }, role: 'maintainer' })
await stockGiftCards(api, api)
let worker: Worker | undefined
afterEach(() => worker?.stop(0))
after(() => api.stop())

const startTestWorker = (url: string) => {
  worker = startWorker({
    db: api.db,
    keys: api.keys,
    log: pino({ level: 'silent' }),
    mailTransport: createSmtpTransport(url),
  })
}

const issueGift = (headers: Record<string, string> = {}) => issueVoucher(api, { message: 'Happy birthday!' }, headers)
const lookUp = (number: string, pin: string) => post(api, '/vouchers/lookup', { number, pin })
const makeDue = () => api.db.run(sql`update job set due_at = now() where name = 'send-email'`)

test('a voucher email waits during a mail server outage and then arrives', async () => {
  const down = await startSink()
  await down.close()
  startTestWorker(down.url)
  const { status, json } = await issueGift()
  assert.equal(status, 201)
  assert.deepEqual(json.data.email, { status: 'queued' })
  await waitUntil(() => api.db.run(sql`select from email where attempts = 1`), 'the email was attempted')
  assert.deepEqual((await lookUp(json.data.number, json.data.pin)).json.data.email, { status: 'queued' })

  const up = await startSink({ port: down.port })
  try {
    await waitUntil(() => makeDue().then(() => up.delivered.length), 'the email is sent')
    const [mail] = up.delivered
    assert.deepEqual(mail?.receivers, ['ann.lee@example.com'])
    const [, number = '', pin = ''] = /Voucher number: (\S+)\s+PIN: +(\S+)/.exec(mail?.text ?? '') ?? []
    assert.deepEqual({ number, pin }, { number: json.data.number, pin: json.data.pin })
    for (const text of ['Luma', 'AUD 150.00', 'Ann Lee', 'John Smith', '> Happy birthday!'])
      assert.ok(mail?.text?.includes(text), text)
    await waitUntil(
      async () => (await lookUp(number, pin)).json.data.email.status === 'sent',
      'the voucher shows the sent email',
    )
  } finally {
    await up.close()
  }
})

test('a voucher repeated with its Idempotency-Key has one email', async () => {
  const sink = await startSink()
  try {
    const responses = await Promise.all(Array.from({ length: 10 }, () => issueGift({ 'idempotency-key': 'one-gift' })))
    const created = responses.filter(({ status }) => status === 201)
    assert.ok(created.length >= 1)
    const again = await issueGift({ 'idempotency-key': 'one-gift' })
    assert.equal(again.headers['idempotent-replayed'], 'true')
    startTestWorker(sink.url)
    await waitUntil(
      async () => !(await api.db.run(sql`select from email where status = 'queued'`)),
      'all emails are sent',
    )
    assert.equal(sink.delivered.length, 1)
    assert.match(sink.delivered[0]?.text ?? '', new RegExp(`PIN: +${again.json.data.pin}\n`))
  } finally {
    await sink.close()
  }
})

test('a mail server that blocks every worker slot does not delay requests', async t => {
  const sink = await startSink()
  try {
    sink.faults.push('hang', 'hang', 'hang', 'hang')
    await Promise.all(Array.from({ length: 8 }, () => issueGift()))
    startTestWorker(sink.url)
    await waitUntil(() => sink.delivered.length === 4, 'four emails hang')
    const times: number[] = []
    for (let i = 0; i < 40; i++) {
      const startedAt = performance.now()
      assert.equal((await api.get('/stores')).status, 200)
      assert.equal((await issueGift()).status, 201)
      times.push(performance.now() - startedAt)
    }
    const slowest = Math.max(...times)
    t.diagnostic(`the slowest of 40 reads and writes took ${Math.round(slowest)} ms`)
    assert.ok(slowest < 2_000)
    assert.equal(sink.delivered.length, 4, 'at most four emails may be sent concurrently')
  } finally {
    await worker?.stop(0)
    await sink.close()
  }
})
