import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { type Decision, decideOnVoucher } from '../../../src/backoffice/embedded/vouchers/decisions.ts'
import { sql } from '../../../src/database/db.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'
import {
  addVouchers,
  backDate,
  clearFailures,
  getClockDifference,
  getRejection,
  getValidationId,
  listLedgerSteps,
  lockVoucher,
  newVoucher,
  pin,
  validateVoucher,
  voucherSettings,
} from '../../support/voucher-shop.ts'
import { post, put } from '../../support/write.ts'

const api = await startTestApi({ settings: voucherSettings, role: 'visitor' })
/** Another account of the same service. */
const other = await api.createAccount('visitor')
after(() => api.stop())
beforeEach(() => clearFailures(api))

const decide = (number: string, decision: Decision) =>
  api.db.transaction(tx => decideOnVoucher(tx, api.service, number, decision))

test('a validation returns the voucher like the look-up, with a usable ID', async () => {
  const number = await newVoucher(api)
  const response = await post(api, '/vouchers/lookup', { number, pin })
  assert.equal(response.status, 200)
  assert.equal(response.headers.location, undefined)
  const { status, json } = await validateVoucher(api, number)
  assert.equal(status, 200)
  const { validationId, ...voucher } = json.data
  assert.deepEqual(voucher, response.json.data)
  assert.match(validationId, /^[\w-]{32}$/)
  const locked = await lockVoucher(api, number, validationId)
  assert.equal(locked.status, 200)
  assert.deepEqual(locked.json.data, { ...voucher, status: 'locked', lockedUntil: locked.json.data.lockedUntil })
  assert.ok(getClockDifference(locked.json.data.lockedUntil, 3_600) < 30, locked.json.data.lockedUntil)
  assert.deepEqual((await post(api, '/vouchers/lookup', { number, pin })).json.data, locked.json.data)
})

test('the GET form looks up, or validates if an amount is given', async () => {
  const number = await newVoucher(api)
  const get = (query = '') => api.get(`/vouchers/${number}${query}`, { 'x-voucher-pin': pin })
  assert.equal((await get()).json.data.validationId, undefined)
  const validated = await get('?amount=150.00')
  assert.equal((await lockVoucher(api, number, validated.json.data.validationId)).status, 200)
  const rejected = await get('?amount=150.00')
  assertProblem(rejected, 'voucher_locked', api.baseUrl, `/vouchers/${number}`)
  const otherNumber = await newVoucher(api)
  const tooMuch = await api.get(`/vouchers/${otherNumber}?amount=150.01`, { 'x-voucher-pin': pin })
  assertProblem(tooMuch, 'insufficient_voucher_balance', api.baseUrl, `/vouchers/${otherNumber}`)
  assert.equal(tooMuch.json.errors[0].parameter, 'amount')
  for (const amount of ['0.00', '-1.00', '1', '1.001', '1,00', '1e3', 'NaN', '%201.00'])
    assertProblem(
      await api.get(`/vouchers/${otherNumber}?amount=${amount}`, { 'x-voucher-pin': pin }),
      'invalid_parameter',
      api.baseUrl,
    )
  for (const query of [`?amount=1.00&pin=${pin}`, `?pin=${pin}`])
    assertProblem(await get(query), 'invalid_parameter', api.baseUrl)
})

test('a PIN in the URL of a write is rejected without repetition', async () => {
  const number = await newVoucher(api)
  for (const path of ['/vouchers/lookup', '/vouchers/validate', '/vouchers']) {
    const response = await post(api, `${path}?pin=${pin}`, { number, pin })
    if (path !== '/vouchers') assert.equal(response.json.errors[0].parameter, 'pin')
    assert.doesNotMatch(response.text, new RegExp(pin))
  }
  assertProblem(await put(api, `/vouchers/${number}/lock?pin=${pin}`, {}), 'invalid_parameter', api.baseUrl)
})

test('a newer validation replaces the previous one if there is no lock', async () => {
  const number = await newVoucher(api)
  const [older, newer] = [await getValidationId(api, number), await getValidationId(other, number)]
  assertProblem(
    await lockVoucher(api, number, older),
    'validation_id_incorrect',
    api.baseUrl,
    `/vouchers/${number}/lock`,
  )
  assert.equal((await lockVoucher(other, number, newer)).status, 200)
  const late = await lockVoucher(api, number, older)
  assertProblem(late, 'voucher_locked', api.baseUrl, `/vouchers/${number}/lock`)
  assert.match(late.json.lockedUntil, /^\d{4}-/)
})

test('a validation expires after 24 hours; its lock can still be released', async () => {
  const number = await newVoucher(api)
  const first = await getValidationId(api, number)
  await backDate(api, number, 'validated_until')
  assertProblem(await lockVoucher(api, number, first), 'validation_id_incorrect', api.baseUrl)
  const ownValidationId = await getValidationId(api, number)
  await lockVoucher(api, number, ownValidationId, 86_400)
  await backDate(api, number, 'validated_until')
  assertProblem(await lockVoucher(api, number, ownValidationId, 60), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lockVoucher(api, number, ownValidationId, 0)).status, 200)
})

test('a wrong validation ID and an unknown number are indistinguishable and throttled', async () => {
  const number = await newVoucher(api)
  const ownValidationId = await getValidationId(api, number)
  const wrong = getRejection(
    await lockVoucher(api, number, `${ownValidationId.slice(0, -1)}${ownValidationId.endsWith('A') ? 'B' : 'A'}`),
  )
  assert.equal(wrong.code, 'validation_id_incorrect')
  assert.equal(wrong.status, 403)
  assert.deepEqual(getRejection(await lockVoucher(api, 'nope', ownValidationId)), wrong)
  assert.deepEqual(
    getRejection(await lockVoucher(api, await newVoucher(api), ownValidationId)),
    wrong,
    'the validation of another voucher',
  )
  const caller = await api.createService(voucherSettings)
  assert.deepEqual(getRejection(await lockVoucher(caller, number, ownValidationId)), wrong, 'another service')
  const codes = []
  for (let i = 0; i < 40; i++) codes.push((await lockVoucher(api, number, `guess${i}`)).json.code)
  assert.ok(codes.includes('too_many_failures'), codes.join())
  assert.equal((await lockVoucher(api, number, ownValidationId)).status, 200, 'the right validation must still work')
  assert.equal((await lockVoucher(other, number, ownValidationId, 0)).status, 200)
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
    const response = await post(api, '/vouchers/lookup', { number, pin })
    assert.deepEqual([response.json.data.status, response.json.data.availableAmount], [number, '0.00'])
    const rejected = await validateVoucher(api, number)
    assertProblem(rejected, 'voucher_unusable', api.baseUrl, '/vouchers/validate')
    assert.equal(rejected.json.reason, reason)
    assertProblem(
      await post(api, '/vouchers/validate', { number, pin: '1', amount: '1.00' }),
      'voucher_not_accepted',
      api.baseUrl,
    )
  }
  const number = await newVoucher(api)
  const ownValidationId = await getValidationId(api, number)
  await api.db.run(
    sql`update voucher set expiry_date = '2020-01-01' where service_id = ${api.service.id} and number = ${number}`,
  )
  const late = await lockVoucher(api, number, ownValidationId)
  assertProblem(late, 'voucher_unusable', api.baseUrl, `/vouchers/${number}/lock`)
  assert.equal(late.json.reason, 'expired')
  assert.deepEqual(await listLedgerSteps(api, api, number), ['issue active', 'expire expired'])
})

test('a suspension ends the lock and invalidates earlier validations', async () => {
  const number = await newVoucher(api)
  const ownValidationId = await getValidationId(api, number)
  await lockVoucher(api, number, ownValidationId)
  assert.deepEqual(await decide(number, 'suspend'), { isApplied: true, state: 'suspended' })
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  assert.deepEqual(await decide(number, 'suspend'), { isApplied: false, state: 'suspended' })
  assert.deepEqual(await decide(number, 'resume'), { isApplied: true, state: 'active' })
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await validateVoucher(api, number)).status, 200)
  assert.equal(await decide('nope', 'resume'), undefined)
})

test('a validation cannot exceed the balance or leave a forbidden remainder', async () => {
  const number = await newVoucher(api)
  const tooMuch = await validateVoucher(api, number, '150.01')
  assertProblem(tooMuch, 'insufficient_voucher_balance', api.baseUrl, '/vouchers/validate')
  assert.equal(tooMuch.json.errors[0].pointer, '/amount')
  assert.equal((await validateVoucher(api, number, '150.00')).status, 200)
  const strict = await api.createService({ ...voucherSettings, requireFullRedemption: true })
  await addVouchers(api, strict, { full: { usedAmount: '30.50' } })
  for (const amount of ['119.49', '0.01', '10.00'])
    assertProblem(
      await validateVoucher(strict, 'full', amount),
      'voucher_must_be_used_in_full',
      api.baseUrl,
      '/vouchers/validate',
    )
  assertProblem(await validateVoucher(strict, 'full', '119.51'), 'insufficient_voucher_balance', api.baseUrl)
  assert.equal((await validateVoucher(strict, 'full', '119.50')).status, 200)
})

test("a validation amount must be a positive string with the currency's decimals", async () => {
  const number = await newVoucher(api)
  const send = (amount: unknown) => post(api, '/vouchers/validate', { number, pin, amount })
  for (const amount of ['-1.00', '0.00', '0.001', '100', '1000000000.00', 'NaN', '1e9', '', ' 1.00', '1,00', '１.00'])
    assertProblem(await send(amount), 'invalid_field', api.baseUrl, '/vouchers/validate')
  for (const amount of [100.1, 100, null, ['1.00'], { amount: '1.00' }, true])
    assertProblem(await send(amount), 'invalid_body', api.baseUrl, '/vouchers/validate')
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
  const { entries } = (await (await api.createAccount('admin')).get(`/vouchers/${number}/ledger`)).json.data
  assert.deepEqual(
    entries.map((step: { amount: string }) => step.amount.includes('.')),
    entries.map(() => false),
  )
  assert.ok(entries.length > 0)
  assertProblem(await validateVoucher(api, number), 'voucher_unusable', api.baseUrl)
})
