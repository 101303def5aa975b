import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { insertVoucher } from '../../../src/backoffice/embedded/vouchers/issue.ts'
import { sql } from '../../../src/database/db.ts'
import { generatePin, generateVoucherNumber } from '../../../src/domain/vouchers/number.ts'
import { assertProblem, getFieldErrors } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'
import {
  clearFailures,
  countRows,
  issueVoucher,
  listLedgerSteps,
  stockGiftCards,
  voucherSettings,
} from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

const api = await startTestApi({ settings: voucherSettings, role: 'maintainer' })
await stockGiftCards(api, api)
after(() => api.stop())
beforeEach(() => clearFailures(api))

const toDay = (days: number) => Temporal.Now.plainDateISO('Australia/Melbourne').add({ days }).toString()

test('an issued voucher has a working PIN and a queued email', async () => {
  const { status, headers, json } = await issueVoucher(api, {
    orderNumber: 'W0000123',
    message: 'Happy birthday!\nJohn',
    mobile: null,
  })
  assert.equal(status, 201)
  const { number, pin, orderNumber, ...voucher } = json.data
  assert.equal(headers.location, `/vouchers/${number}`)
  assert.match(number, /^9\d{15}$/)
  assert.match(pin, /^\d{6}$/)
  assert.equal(orderNumber, 'W0000123')
  assert.deepEqual(voucher, {
    status: 'active',
    currency: 'AUD',
    originalAmount: '150.00',
    usedAmount: '0.00',
    availableAmount: '150.00',
    expiryDate: Temporal.Now.plainDateISO('Australia/Melbourne').add({ months: 36 }).toString(),
    lockedUntil: null,
    email: { status: 'queued' },
  })
  const response = await post(api, '/vouchers/lookup', { number, pin })
  assert.deepEqual(response.json.data, { number, ...voucher })
  assert.deepEqual(await listLedgerSteps(api, api, number), ['issue active'])
  assertProblem(await post(api, '/vouchers/lookup', { number, pin: `0${pin}` }), 'voucher_not_accepted', api.baseUrl)
})

test('a repeat with its key returns the same voucher and PIN', async () => {
  const before = { voucher: await countRows(api, 'voucher'), mail: await countRows(api, 'email') }
  const key = { 'idempotency-key': 'gift-1' }
  const responses = await Promise.all(Array.from({ length: 20 }, () => issueVoucher(api, {}, key)))
  for (const response of responses)
    if (response.status !== 201) assertProblem(response, 'idempotency_in_progress', api.baseUrl)
  const texts = new Set(responses.filter(({ status }) => status === 201).map(({ text }) => text))
  assert.equal(texts.size, 1)
  const replay = await issueVoucher(api, {}, key)
  assert.equal(replay.headers['idempotent-replayed'], 'true')
  assert.ok(texts.has(replay.text))
  assert.match(replay.json.data.pin, /^\d{6}$/)
  assertProblem(await issueVoucher(api, { amount: '151.00' }, key), 'idempotency_key_reused', api.baseUrl, '/vouchers')
  assert.deepEqual(
    [await countRows(api, 'voucher'), await countRows(api, 'email')],
    [before.voucher + 1, before.mail + 1],
  )
})

test('a request without a key issues another voucher, except for repeated orders', async () => {
  const [first, second] = [(await issueVoucher(api)).json.data, (await issueVoucher(api)).json.data]
  assert.notEqual(first.number, second.number)
  assert.equal(first.orderNumber, null)
  const before = {
    voucher: await countRows(api, 'voucher'),
    mail: await countRows(api, 'email'),
    sale: await countRows(api, 'voucher_sale'),
  }
  const responses = await Promise.all(Array.from({ length: 10 }, () => issueVoucher(api, { orderNumber: 'W777' })))
  const rejected = responses.filter(({ status }) => status !== 201)
  assert.equal(rejected.length, 9)
  for (const response of rejected) {
    assertProblem(response, 'order_number_taken', api.baseUrl, '/vouchers')
    assert.deepEqual(getFieldErrors(response), ['/orderNumber order_number_taken'])
  }
  assert.deepEqual(
    [await countRows(api, 'voucher'), await countRows(api, 'email'), await countRows(api, 'voucher_sale')],
    [before.voucher + 1, before.mail + 1, before.sale + 1],
  )
  const caller = await api.createService(voucherSettings)
  const other = await api.createAccount('maintainer', caller.service)
  await stockGiftCards(api, other)
  assert.equal((await issueVoucher(other, { orderNumber: 'W777' })).status, 201, 'another service has its own numbers')
})

test('a visitor cannot issue a voucher', async () => {
  const visitor = await api.createAccount('visitor')
  assertProblem(await issueVoucher(visitor), 'insufficient_role', api.baseUrl, '/vouchers')
})

test('a PIN is never stored in plain text', async () => {
  const issued = []
  for (let i = 0; i < 5; i++) issued.push((await issueVoucher(api, {}, { 'idempotency-key': `dump-${i}` })).json.data)
  const canary = 'canary-pin-0042'
  const [{ number, pin }] = issued as [{ number: string; pin: string }]
  await post(api, '/vouchers/lookup', { number, pin: canary }, { 'idempotency-key': 'dump-look-up' })
  assert.equal((await post(api, '/vouchers/lookup', { number, pin }, { 'idempotency-key': 'dump-right' })).status, 200)
  const validated = await post(
    api,
    '/vouchers/validate',
    { number, pin, amount: '1.00' },
    { 'idempotency-key': 'dump-3' },
  )
  const { validationId } = validated.json.data
  assert.equal(typeof validationId, 'string')
  const tables = await api.db.rows<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  let dump = ''
  for (const { name } of tables) {
    const { rows } = await api.db.pool.query(`select t::text as row from "${name}" t`)
    dump += rows.map(({ row }) => `${name} ${row}\n`).join('')
  }
  assert.ok(dump.includes(number) && /^email /m.test(dump) && /^idempotent_response /m.test(dump))
  assert.ok(!dump.includes(canary) && !dump.includes(validationId))
  // Digits in a hash, a longer number or a fraction of a second aren't the PIN.
  for (const { pin: issuedPin } of issued) assert.doesNotMatch(dump, new RegExp(`(?<![\\w.])${issuedPin}(?!\\w)`))
})

test('a taken number is generated again', async () => {
  const { number: accepted } = (await issueVoucher(api)).json.data
  const draws = [accepted, accepted, '9000000000000000']
  const created = await api.db.transaction(tx =>
    insertVoucher(
      tx,
      api.service,
      { amount: '1.00', expiryDate: toDay(1) },
      () => Buffer.alloc(32),
      () => draws.shift() ?? '',
    ),
  )
  assert.equal(created, '9000000000000000')
  assert.deepEqual(draws, [])
  await assert.rejects(
    api.db.transaction(tx =>
      insertVoucher(
        tx,
        api.service,
        { amount: '1.00', expiryDate: toDay(1) },
        () => Buffer.alloc(32),
        () => accepted,
      ),
    ),
    /were taken/,
  )
})

/** Asserts that counts are uniform: chi-squared differs from its degrees of freedom by at most a few standard deviations. */
function assertUniform(counts: readonly number[], label: string) {
  const expected = counts.reduce((a, b) => a + b) / counts.length
  const squares = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  const freedom = counts.length - 1
  assert.ok(Math.abs(squares - freedom) < 8 * Math.sqrt(2 * freedom), `${label}: ${squares} for ${freedom}`)
}

test('a million numbers and PINs are uniform, unique and unordered', () => {
  const total = 1_000_000
  const numbers = new Set<string>()
  const digits = Array.from({ length: 16 }, () => new Array<number>(10).fill(0))
  const pins = new Array<number>(1_000).fill(0)
  const pinEnds = new Array<number>(1_000).fill(0)
  let [rising, close, last] = [0, 0, 0]
  for (let i = 0; i < total; i++) {
    const number = generateVoucherNumber()
    numbers.add(number)
    let luhn = 0
    for (let index = 0; index < 16; index++) {
      const digit = number.charCodeAt(index) - 48
      const counts = digits[index]
      if (counts) counts[digit] = (counts[digit] ?? 0) + 1
      luhn += index % 2 ? digit : digit * 2 - (digit > 4 ? 9 : 0)
    }
    if (luhn % 10) assert.fail(`${number} has another check digit`)
    const value = Number(number.slice(1, 15))
    if (value > last) rising++
    if (Math.abs(value - last) < 10_000) close++
    last = value
    const pin = generatePin()
    if (pin.length !== 6) assert.fail(pin)
    const [front, end] = [Number(pin.slice(0, 3)), Number(pin.slice(3))]
    pins[front] = (pins[front] ?? 0) + 1
    pinEnds[end] = (pinEnds[end] ?? 0) + 1
  }
  // One in 200 runs repeats one of the 10^14 numbers. The database rejects it, and Tillbridge generates another.
  assert.ok(numbers.size >= total - 1, `${total - numbers.size} repeats`)
  for (const [index, counts] of digits.entries()) if (index > 0) assertUniform(counts, `digit ${index}`)
  assertUniform(pins, 'the first half of PINs')
  assertUniform(pinEnds, 'the second half of PINs')
  assert.ok(Math.abs(rising - total / 2) < 5_000, `${rising} rise`)
  assert.ok(close <= 3, `${close} follow each other`)
})
