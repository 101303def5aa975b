import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../../src/db.ts'
import { makePin, makeVoucherNumber } from '../../../src/domain/vouchers/number.ts'
import { insertVoucher } from '../../../src/store/vouchers/issue.ts'
import { isProblem } from '../../support/problem.ts'
import { type Caller, startTestService, type TestService } from '../../support/service.ts'
import { forgetFailures, stepsOf, stockGiftCards, validate, voucherSettings } from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

let api: TestService
before(async () => {
  api = await startTestService({ settings: voucherSettings, role: 'maintainer' })
  await stockGiftCards(api, api)
})
after(() => api.stop())
beforeEach(() => forgetFailures(api))

const gift = {
  amount: '150.00',
  gateway: 'paypal',
  receiverName: 'Ann Lee',
  receiverEmail: 'ann.lee@example.com',
  senderName: 'John Smith',
  subject: 'A gift for you',
  billingAddress: { addressLine1: '111 Collins St', city: 'Melbourne', country: 'Australia' },
}
const issue = (more: object = {}, headers: Record<string, string> = {}, by: Caller = api) =>
  post(by, '/vouchers', { ...gift, ...more }, headers)

const day = (days: number) => Temporal.Now.plainDateISO('Australia/Melbourne').add({ days }).toString()
const count = async (table: 'voucher' | 'mail' | 'voucher_sale', by: Caller = api) =>
  Number(
    (
      await api.db.row<{ count: string }>(
        table === 'voucher'
          ? sql`select count(*) from voucher where service_id = ${by.service.id}`
          : table === 'mail'
            ? sql`select count(*) from mail where service_id = ${by.service.id}`
            : sql`select count(*) from voucher_sale where service_id = ${by.service.id}`,
      )
    )?.count,
  )

/** The codes and places of all faults of an answer. */
const faultsOf = (answer: { json: { errors: { pointer?: string; code: string }[] } }) =>
  answer.json.errors.map(({ pointer, code }) => [pointer, code])

test('a voucher is made with number and PIN, which open it, and its e-mail is queued', async () => {
  const { status, headers, json } = await issue({
    orderNumber: 'W0000123',
    message: 'Happy birthday!\nJohn',
    mobile: null,
  })
  assert.equal(status, 201)
  const { number, pin, orderNumber, ...shown } = json.data
  assert.equal(headers.location, `/vouchers/${number}`)
  assert.match(number, /^9\d{15}$/)
  assert.match(pin, /^\d{6}$/)
  assert.equal(orderNumber, 'W0000123')
  assert.deepEqual(shown, {
    status: 'active',
    currency: 'AUD',
    originalAmount: '150.00',
    usedAmount: '0.00',
    availableAmount: '150.00',
    expiryDate: Temporal.Now.plainDateISO('Australia/Melbourne').add({ months: 36 }).toString(),
    lockedUntil: null,
    email: { status: 'queued' },
  })
  const found = await post(api, '/vouchers/lookup', { number, pin })
  assert.deepEqual(found.json.data, { number, ...shown })
  assert.deepEqual(await stepsOf(api, api, number), ['issue active'])
  isProblem(await post(api, '/vouchers/lookup', { number, pin: `0${pin}` }), 'voucher_not_accepted', api.baseUrl)
})

test('a repeat with its key is the same voucher and PIN, however often and at once', async () => {
  const before = { voucher: await count('voucher'), mail: await count('mail') }
  const key = { 'idempotency-key': 'gift-1' }
  const answers = await Promise.all(Array.from({ length: 20 }, () => issue({}, key)))
  for (const answer of answers) if (answer.status !== 201) isProblem(answer, 'idempotency_in_progress', api.baseUrl)
  const texts = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text))
  assert.equal(texts.size, 1)
  const replay = await issue({}, key)
  assert.equal(replay.headers['idempotent-replayed'], 'true')
  assert.ok(texts.has(replay.text))
  assert.match(replay.json.data.pin, /^\d{6}$/)
  isProblem(await issue({ amount: '151.00' }, key), 'idempotency_key_reused', api.baseUrl, '/vouchers')
  assert.deepEqual([await count('voucher'), await count('mail')], [before.voucher + 1, before.mail + 1])
})

test('without a key each request makes a voucher; an order number guards against a second one', async () => {
  const [first, second] = [(await issue()).json.data, (await issue()).json.data]
  assert.notEqual(first.number, second.number)
  assert.equal(first.orderNumber, null)
  const before = { voucher: await count('voucher'), mail: await count('mail'), sale: await count('voucher_sale') }
  const answers = await Promise.all(Array.from({ length: 10 }, () => issue({ orderNumber: 'W777' })))
  const refused = answers.filter(({ status }) => status !== 201)
  assert.equal(refused.length, 9)
  for (const answer of refused) {
    isProblem(answer, 'order_number_taken', api.baseUrl, '/vouchers')
    assert.deepEqual(faultsOf(answer), [['/orderNumber', 'order_number_taken']])
  }
  assert.deepEqual(
    [await count('voucher'), await count('mail'), await count('voucher_sale')],
    [before.voucher + 1, before.mail + 1, before.sale + 1],
  )
  const tenant = await api.tenant(voucherSettings)
  const other = await api.account('maintainer', tenant.service)
  await stockGiftCards(api, other)
  assert.equal((await issue({ orderNumber: 'W777' }, {}, other)).status, 201, 'another service has its own numbers')
})

test('each setting that is missing is named, and nothing is made', async () => {
  const named: [Record<string, unknown>, string[]][] = [
    [
      { vouchersEnabled: false, giftCardSku: null, voucherType: null },
      ['vouchersEnabled', 'voucherType', 'giftCardSku'],
    ],
    [{ vouchersEnabled: false }, ['vouchersEnabled']],
    [{ voucherType: null }, ['voucherType']],
    [{ giftCardSku: null }, ['giftCardSku']],
    [{ giftCardSku: 'giftcard' }, ['giftCardSku']],
    [{ giftCardSku: 'giftcard', vouchersEnabled: false }, ['vouchersEnabled', 'giftCardSku']],
  ]
  for (const [settings, names] of named) {
    const tenant = await api.tenant({ ...voucherSettings, ...settings })
    await stockGiftCards(api, tenant)
    const { status, json } = await issue({}, {}, tenant)
    assert.equal(status, 409)
    assert.equal(json.code, 'voucher_not_configured')
    assert.equal(json.errors.length, names.length, JSON.stringify(json))
    for (const [i, name] of names.entries()) {
      assert.equal(json.errors[i].code, 'voucher_not_configured')
      assert.match(json.errors[i].detail, new RegExp(`\`${name}\``))
    }
    assert.equal(await count('voucher', tenant), 0)
    assert.equal(await count('mail', tenant), 0)
  }
})

test('a gateway is one of those that there are, to the letter', async () => {
  for (const gateway of ['stripe', 'PayPal', 'pаypal', 'paypal ', 'paypal\u200b']) {
    const answer = await issue({ gateway })
    isProblem(answer, 'unknown_gateway', api.baseUrl, '/vouchers')
    assert.deepEqual(faultsOf(answer), [['/gateway', 'unknown_gateway']])
    assert.match(answer.json.detail, /`paypal`, `visa`/)
  }
})

test('every fault of a voucher is told at once', async () => {
  const answer = await issue({
    amount: '0.00',
    currency: 'USD',
    gateway: 'cash',
    deliveryDate: '2020-02-29',
    billingAddress: { city: ' ', country: null },
  })
  isProblem(answer, 'invalid_field', api.baseUrl, '/vouchers')
  assert.deepEqual(faultsOf(answer), [
    ['/amount', 'invalid_field'],
    ['/currency', 'invalid_field'],
    ['/gateway', 'unknown_gateway'],
    ['/deliveryDate', 'invalid_field'],
    ['/billingAddress', 'invalid_field'],
  ])
  const shape = await post(api, '/vouchers', { amount: 150, pin: '123456', balance: '9.00' })
  isProblem(shape, 'invalid_body', api.baseUrl, '/vouchers')
  const places = faultsOf(shape).map(([pointer]) => pointer)
  for (const field of [
    'amount',
    'pin',
    'balance',
    'gateway',
    'receiverName',
    'receiverEmail',
    'senderName',
    'subject',
    'billingAddress',
  ])
    assert.ok(places.includes(`/${field}`), field)
})

test('an amount is text with the decimals of the currency, more than nothing and not beyond reason', async () => {
  const before = await count('voucher')
  for (const amount of ['-1.00', '0.00', '0.001', '100', '1000000000.00', '100000.01', 'NaN', '1e3', '١.00'])
    isProblem(await issue({ amount }), 'invalid_field', api.baseUrl, '/vouchers')
  for (const amount of [100.1, 100, null, ['100.00']]) isProblem(await issue({ amount }), 'invalid_body', api.baseUrl)
  assert.equal(await count('voucher'), before)
  for (const amount of ['0.01', '100.10', '100000.00']) {
    const { data } = (await issue({ amount, currency: 'AUD' })).json
    assert.deepEqual([data.originalAmount, data.availableAmount], [amount, amount])
  }
  const yen = await api.tenant({ ...voucherSettings, currency: 'JPY' })
  const shop = await api.account('maintainer', yen.service)
  await stockGiftCards(api, shop)
  isProblem(await issue({ amount: '5000.00' }, {}, shop), 'invalid_field', api.baseUrl)
  assert.equal((await issue({ amount: '5000' }, {}, shop)).json.data.availableAmount, '5000')
})

test('the e-mail waits for a day from today to the last of the voucher', async () => {
  for (const deliveryDate of [day(0), day(30), null]) assert.equal((await issue({ deliveryDate })).status, 201)
  for (const deliveryDate of [day(-1), '2023-02-30', '2024-13-01', day(365 * 4), 'tomorrow', ''])
    isProblem(await issue({ deliveryDate }), 'invalid_field', api.baseUrl, '/vouchers')
})

test('no line break or second address gets into the head of an e-mail', async () => {
  for (const evil of [
    'Ann\r\nBcc: thief@example.com',
    'Ann\nLee',
    'Ann\rLee',
    'Ann\u2028Lee',
    'Ann\u0000',
    '\u202eeeL',
    ' ',
    '',
  ])
    for (const field of ['receiverName', 'senderName', 'subject']) {
      const answer = await issue({ [field]: evil })
      isProblem(answer, 'invalid_field', api.baseUrl, '/vouchers')
      assert.deepEqual(faultsOf(answer), [[`/${field}`, 'invalid_field']])
    }
  for (const receiverEmail of [
    'ann@example.com\r\nBcc: thief@example.com',
    'ann@example.com, thief@example.com',
    'ann@example.com;thief@example.com',
    '"Ann" <ann@example.com>',
    'ann@example.com ',
    'ann@@example.com',
    'ann@127.0.0.1',
    'ann',
  ])
    isProblem(await issue({ receiverEmail }), 'invalid_field', api.baseUrl, '/vouchers')
  isProblem(await issue({ message: `${'x'.repeat(1_000)}x` }), 'invalid_field', api.baseUrl)
  isProblem(await issue({ message: 'a\u0007' }), 'invalid_field', api.baseUrl)
  for (const mobile of ['call me', '1', `+${'9'.repeat(60)}`])
    isProblem(await issue({ mobile }), 'invalid_field', api.baseUrl)
  const fine = await issue({
    receiverName: '安妮 <b>"Lee"</b>, ',
    subject: 'Bcc: thief@example.com',
    mobile: '+61 491 570 006',
  })
  assert.equal(fine.status, 201, 'a word is not a header')
})

test('a visitor makes no voucher', async () => {
  const visitor = await api.account('visitor')
  isProblem(await issue({}, {}, visitor), 'insufficient_role', api.baseUrl, '/vouchers')
})

test('a PIN stands nowhere in the database in the clear', async () => {
  const issued = []
  for (let i = 0; i < 5; i++) issued.push((await issue({}, { 'idempotency-key': `dump-${i}` })).json.data)
  const canary = 'canary-pin-0042'
  const [{ number, pin }] = issued as [{ number: string; pin: string }]
  await post(api, '/vouchers/lookup', { number, pin: canary }, { 'idempotency-key': 'dump-look-up' })
  assert.equal((await post(api, '/vouchers/lookup', { number, pin }, { 'idempotency-key': 'dump-right' })).status, 200)
  assert.equal(
    (await post(api, '/vouchers/validate', { number, pin, amount: '1.00' }, { 'idempotency-key': 'dump-3' })).status,
    200,
  )
  const validationId =
    (await validate(api, number)).json.code ??
    (await post(api, '/vouchers/validate', { number, pin, amount: '1.00' })).json.data.validationId
  const tables = await api.db.rows<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  let dump = ''
  for (const { name } of tables) {
    const { rows } = await api.db.pool.query(`select t::text as row from "${name}" t`)
    dump += rows.map(({ row }) => `${name} ${row}\n`).join('')
  }
  assert.ok(dump.includes(number) && /^mail /m.test(dump) && /^idempotent_answer /m.test(dump))
  assert.ok(!dump.includes(canary) && !dump.includes(validationId))
  // Digits within a hash, a longer number or the fraction of a second are no PIN.
  for (const { pin } of issued) assert.doesNotMatch(dump, new RegExp(`(?<![\\w.])${pin}(?!\\w)`))
})

test('a number that is taken is drawn anew', async () => {
  const { number: taken } = (await issue()).json.data
  const draws = [taken, taken, '9000000000000000']
  const made = await api.db.transaction(tx =>
    insertVoucher(
      tx,
      api.service,
      { amount: '1.00', expiryDate: day(1) },
      () => Buffer.alloc(32),
      () => draws.shift() ?? '',
    ),
  )
  assert.equal(made, '9000000000000000')
  assert.deepEqual(draws, [])
  await assert.rejects(
    api.db.transaction(tx =>
      insertVoucher(
        tx,
        api.service,
        { amount: '1.00', expiryDate: day(1) },
        () => Buffer.alloc(32),
        () => taken,
      ),
    ),
    /were taken/,
  )
})

/** How far counts are from what is even; for many classes it is about their number, give or take a few times its root. */
function isEven(counts: readonly number[], what: string) {
  const expected = counts.reduce((a, b) => a + b) / counts.length
  const squares = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  const freedom = counts.length - 1
  assert.ok(Math.abs(squares - freedom) < 8 * Math.sqrt(2 * freedom), `${what}: ${squares} for ${freedom}`)
}

test('a million numbers and PINs are even, without a repeat and without an order', () => {
  const many = 1_000_000
  const numbers = new Set<string>()
  const digits = Array.from({ length: 16 }, () => new Array<number>(10).fill(0))
  const pins = new Array<number>(1_000).fill(0)
  const pinEnds = new Array<number>(1_000).fill(0)
  let [rising, close, last] = [0, 0, 0]
  for (let i = 0; i < many; i++) {
    const number = makeVoucherNumber()
    numbers.add(number)
    let luhn = 0
    for (let at = 0; at < 16; at++) {
      const digit = number.charCodeAt(at) - 48
      const counts = digits[at]
      if (counts) counts[digit] = (counts[digit] ?? 0) + 1
      luhn += at % 2 ? digit : digit * 2 - (digit > 4 ? 9 : 0)
    }
    if (luhn % 10) assert.fail(`${number} has another check digit`)
    const value = Number(number.slice(1, 15))
    if (value > last) rising++
    if (Math.abs(value - last) < 10_000) close++
    last = value
    const pin = makePin()
    if (pin.length !== 6) assert.fail(pin)
    const [front, end] = [Number(pin.slice(0, 3)), Number(pin.slice(3))]
    pins[front] = (pins[front] ?? 0) + 1
    pinEnds[end] = (pinEnds[end] ?? 0) + 1
  }
  // Of so many from 10^14, one in 200 such runs has two alike: those the database refuses, and another is drawn.
  assert.ok(numbers.size >= many - 1, `${many - numbers.size} repeats`)
  for (const [at, counts] of digits.entries()) if (at > 0) isEven(counts, `digit ${at}`)
  isEven(pins, 'the first half of PINs')
  isEven(pinEnds, 'the second half of PINs')
  assert.ok(Math.abs(rising - many / 2) < 5_000, `${rising} rise`)
  assert.ok(close <= 3, `${close} follow each other`)
})
