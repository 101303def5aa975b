import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { type Decision, decideOnVoucher } from '../../../src/backoffice/embedded/vouchers/decisions.ts'
import { sql } from '../../../src/database/db.ts'
import { isProblem } from '../../support/problem.ts'
import { startTestService } from '../../support/service.ts'
import {
  addVouchers,
  backDate,
  forgetFailures,
  lock,
  newVoucher,
  pin,
  refusalOf,
  secondsOff,
  stepsOf,
  validate,
  validationOf,
  voucherSettings,
} from '../../support/voucher-shop.ts'
import { post, put } from '../../support/write.ts'

const api = await startTestService({ settings: voucherSettings, role: 'visitor' })
/** Another account of the same service. */
const other = await api.account('visitor')
after(() => api.stop())
beforeEach(() => forgetFailures(api))

const decide = (number: string, decision: Decision) =>
  api.db.transaction(tx => decideOnVoucher(tx, api.service, number, decision))

test('a validation returns the voucher like the look-up, with a usable ID', async () => {
  const number = await newVoucher(api)
  const found = await post(api, '/vouchers/lookup', { number, pin })
  assert.equal(found.status, 200)
  assert.equal(found.headers.location, undefined)
  const { status, json } = await validate(api, number)
  assert.equal(status, 200)
  const { validationId, ...shown } = json.data
  assert.deepEqual(shown, found.json.data)
  assert.match(validationId, /^[\w-]{32}$/)
  const held = await lock(api, number, validationId)
  assert.equal(held.status, 200)
  assert.deepEqual(held.json.data, { ...shown, status: 'locked', lockedUntil: held.json.data.lockedUntil })
  assert.ok(secondsOff(held.json.data.lockedUntil, 3_600) < 30, held.json.data.lockedUntil)
  assert.deepEqual((await post(api, '/vouchers/lookup', { number, pin })).json.data, held.json.data)
})

test('the GET form looks up, or validates if an amount is given', async () => {
  const number = await newVoucher(api)
  const get = (query = '') => api.get(`/vouchers/${number}${query}`, { 'x-voucher-pin': pin })
  assert.equal((await get()).json.data.validationId, undefined)
  const validated = await get('?amount=150.00')
  assert.equal((await lock(api, number, validated.json.data.validationId)).status, 200)
  const refused = await get('?amount=150.00')
  isProblem(refused, 'voucher_locked', api.baseUrl, `/vouchers/${number}`)
  const more = await newVoucher(api)
  const tooMuch = await api.get(`/vouchers/${more}?amount=150.01`, { 'x-voucher-pin': pin })
  isProblem(tooMuch, 'insufficient_voucher_balance', api.baseUrl, `/vouchers/${more}`)
  assert.equal(tooMuch.json.errors[0].parameter, 'amount')
  for (const amount of ['0.00', '-1.00', '1', '1.001', '1,00', '1e3', 'NaN', '%201.00'])
    isProblem(
      await api.get(`/vouchers/${more}?amount=${amount}`, { 'x-voucher-pin': pin }),
      'invalid_parameter',
      api.baseUrl,
    )
  for (const query of [`?amount=1.00&pin=${pin}`, `?pin=${pin}`])
    isProblem(await get(query), 'invalid_parameter', api.baseUrl)
})

test('a PIN in the URL of a write is rejected without repetition', async () => {
  const number = await newVoucher(api)
  for (const path of ['/vouchers/lookup', '/vouchers/validate', '/vouchers']) {
    const answer = await post(api, `${path}?pin=${pin}`, { number, pin })
    if (path !== '/vouchers') assert.equal(answer.json.errors[0].parameter, 'pin')
    assert.doesNotMatch(answer.text, new RegExp(pin))
  }
  isProblem(await put(api, `/vouchers/${number}/lock?pin=${pin}`, {}), 'invalid_parameter', api.baseUrl)
})

test('a newer validation replaces the previous one if there is no lock', async () => {
  const number = await newVoucher(api)
  const [older, newer] = [await validationOf(api, number), await validationOf(other, number)]
  isProblem(await lock(api, number, older), 'validation_id_incorrect', api.baseUrl, `/vouchers/${number}/lock`)
  assert.equal((await lock(other, number, newer)).status, 200)
  const late = await lock(api, number, older)
  isProblem(late, 'voucher_locked', api.baseUrl, `/vouchers/${number}/lock`)
  assert.match(late.json.lockedUntil, /^\d{4}-/)
})

test('a validation expires after 24 hours; its lock can still be released', async () => {
  const number = await newVoucher(api)
  const first = await validationOf(api, number)
  await backDate(api, number, 'validated_until')
  isProblem(await lock(api, number, first), 'validation_id_incorrect', api.baseUrl)
  const mine = await validationOf(api, number)
  await lock(api, number, mine, 86_400)
  await backDate(api, number, 'validated_until')
  isProblem(await lock(api, number, mine, 60), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lock(api, number, mine, 0)).status, 200)
})

test('a wrong validation ID and an unknown number are indistinguishable and throttled', async () => {
  const number = await newVoucher(api)
  const mine = await validationOf(api, number)
  const wrong = refusalOf(await lock(api, number, `${mine.slice(0, -1)}${mine.endsWith('A') ? 'B' : 'A'}`))
  assert.equal(wrong.code, 'validation_id_incorrect')
  assert.equal(wrong.status, 403)
  assert.deepEqual(refusalOf(await lock(api, 'nope', mine)), wrong)
  assert.deepEqual(refusalOf(await lock(api, await newVoucher(api), mine)), wrong, 'the validation of another voucher')
  const tenant = await api.tenant(voucherSettings)
  assert.deepEqual(refusalOf(await lock(tenant, number, mine)), wrong, 'another service')
  const codes = []
  for (let i = 0; i < 40; i++) codes.push((await lock(api, number, `guess${i}`)).json.code)
  assert.ok(codes.includes('too_many_failures'), codes.join())
  assert.equal((await lock(api, number, mine)).status, 200, 'the right one still opens')
  assert.equal((await lock(other, number, mine, 0)).status, 200)
})

test('an unusable voucher can be looked up but neither validated nor locked', async () => {
  await addVouchers(api, api, {
    redeemed: { usedAmount: '150.00', state: 'redeemed' },
    expired: { expiryDate: '2020-01-31' },
    suspended: { state: 'suspended' },
    pending: { state: 'pending' },
  })
  for (const [number, reason] of [
    ['redeemed', 'redeemed'],
    ['expired', 'expired'],
    ['suspended', 'suspended'],
    ['pending', 'not issued'],
  ] as const) {
    const found = await post(api, '/vouchers/lookup', { number, pin })
    assert.deepEqual([found.json.data.status, found.json.data.availableAmount], [number, '0.00'])
    const refused = await validate(api, number)
    isProblem(refused, 'voucher_unusable', api.baseUrl, '/vouchers/validate')
    assert.equal(refused.json.reason, reason)
    isProblem(
      await post(api, '/vouchers/validate', { number, pin: '1', amount: '1.00' }),
      'voucher_not_accepted',
      api.baseUrl,
    )
  }
  const number = await newVoucher(api)
  const mine = await validationOf(api, number)
  await api.db.run(
    sql`update voucher set expiry_date = '2020-01-01' where service_id = ${api.service.id} and number = ${number}`,
  )
  const late = await lock(api, number, mine)
  isProblem(late, 'voucher_unusable', api.baseUrl, `/vouchers/${number}/lock`)
  assert.equal(late.json.reason, 'expired')
  assert.deepEqual(await stepsOf(api, api, number), ['issue active', 'expire expired'])
})

test('a suspension ends the lock and invalidates earlier validations', async () => {
  const number = await newVoucher(api)
  const mine = await validationOf(api, number)
  await lock(api, number, mine)
  assert.deepEqual(await decide(number, 'suspend'), { done: true, state: 'suspended' })
  isProblem(await lock(api, number, mine), 'validation_id_incorrect', api.baseUrl)
  assert.deepEqual(await decide(number, 'suspend'), { done: false, state: 'suspended' })
  assert.deepEqual(await decide(number, 'resume'), { done: true, state: 'active' })
  isProblem(await lock(api, number, mine), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await validate(api, number)).status, 200)
  assert.equal(await decide('nope', 'resume'), undefined)
})

test('a validation cannot exceed the balance or leave a forbidden remainder', async () => {
  const number = await newVoucher(api)
  const tooMuch = await validate(api, number, '150.01')
  isProblem(tooMuch, 'insufficient_voucher_balance', api.baseUrl, '/vouchers/validate')
  assert.equal(tooMuch.json.errors[0].pointer, '/amount')
  assert.equal((await validate(api, number, '150.00')).status, 200)
  const strict = await api.tenant({ ...voucherSettings, requireFullRedemption: true })
  await addVouchers(api, strict, { full: { usedAmount: '30.50' } })
  for (const amount of ['119.49', '0.01', '10.00'])
    isProblem(await validate(strict, 'full', amount), 'voucher_must_be_used_in_full', api.baseUrl, '/vouchers/validate')
  isProblem(await validate(strict, 'full', '119.51'), 'insufficient_voucher_balance', api.baseUrl)
  assert.equal((await validate(strict, 'full', '119.50')).status, 200)
})

test("a validation amount must be a positive string with the currency's decimals", async () => {
  const number = await newVoucher(api)
  const send = (amount: unknown) => post(api, '/vouchers/validate', { number, pin, amount })
  for (const amount of ['-1.00', '0.00', '0.001', '100', '1000000000.00', 'NaN', '1e9', '', ' 1.00', '1,00', '１.00'])
    isProblem(await send(amount), 'invalid_field', api.baseUrl, '/vouchers/validate')
  for (const amount of [100.1, 100, null, ['1.00'], { amount: '1.00' }, true])
    isProblem(await send(amount), 'invalid_body', api.baseUrl, '/vouchers/validate')
  for (const text of ['100.10', '1e9', 'NaN', '-0'])
    assert.equal(
      (await post(api, '/vouchers/validate', `{"number":"${number}","pin":"${pin}","amount":${text}}`)).status,
      400,
      text,
    )
})

test('a voucher in a foreign currency is shown but unusable', async () => {
  const number = await newVoucher(api)
  await api.db.run(
    sql`update voucher set currency = 'JPY', original_amount = 200, expiry_date = null where service_id = ${api.service.id} and number = ${number}`,
  )
  const { data } = (await post(api, '/vouchers/lookup', { number, pin })).json
  assert.deepEqual(
    [data.currency, data.originalAmount, data.availableAmount, data.expiryDate],
    ['JPY', '200', '150', null],
  )
  const { entries } = (await (await api.account('admin')).get(`/vouchers/${number}/ledger`)).json.data
  assert.deepEqual(
    entries.map((step: { amount: string }) => step.amount.includes('.')),
    entries.map(() => false),
  )
  assert.ok(entries.length > 0)
  isProblem(await validate(api, number), 'voucher_unusable', api.baseUrl)
})
