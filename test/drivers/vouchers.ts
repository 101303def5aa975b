import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem } from '../support/problem.ts'
import type { Caller } from '../support/service.ts'
import { clearFailures, getRejection, gift, lockVoucher } from '../support/voucher-shop.ts'
import { post, put, retryUntilUncontended } from '../support/write.ts'
import { type Shop, usableNumbers, usablePin } from './shop.ts'

export { lockVoucher }

const validate = (caller: Caller, number: string, amount = '10.00', pin = usablePin) =>
  post(caller, '/vouchers/validate', { number, pin, amount })

export async function getValidationId(caller: Caller, number: string, amount?: string): Promise<string> {
  const { status, json } = await validate(caller, number, amount)
  assert.equal(status, 200, JSON.stringify(json))
  return json.data.validationId
}

/** Contract of gift vouchers, the same for every driver. */
export function addVoucherContract(shop: () => Shop) {
  test('a number and PIN open a voucher in body or header', async () => {
    const { api } = shop()
    const response = await post(api, '/vouchers/lookup', { number: '6000002', pin: '0042' })
    assert.equal(response.status, 200)
    const { expiryDate, ...shown } = response.json.data
    assert.deepEqual(shown, {
      number: '6000002',
      status: 'active',
      currency: 'AUD',
      lockedUntil: null,
      email: null,
      originalAmount: '50.00',
      usedAmount: '10.50',
      availableAmount: '39.50',
    })
    assert.match(expiryDate, /^\d{4}-\d\d-\d\d$/)
    assert.doesNotMatch(response.text, /0042/)
    assert.deepEqual((await api.get('/vouchers/6000002', { 'x-voucher-pin': '0042' })).json, response.json)
    const inUrl = await api.get('/vouchers/6000002?pin=0042')
    assertProblem(inUrl, 'invalid_parameter', api.baseUrl)
    // A request ID can contain any digits.
    assert.doesNotMatch(inUrl.text.replace(inUrl.json.requestId, ''), /0042/)
  })

  test('an unknown number and a wrong PIN get the same response', async () => {
    const { api } = shop()
    await clearFailures(api)
    const responses: object[] = []
    for (const [number, pin] of [
      ['999999', '1'],
      ['6000002', '42'],
      ['6000002', '00420'],
      [' 6000002', '0042'],
      ['../6000002', '0042'],
    ] as const)
      responses.push(getRejection(await post(api, '/vouchers/lookup', { number, pin })))
    assert.equal((responses[0] as { code: string }).code, 'voucher_not_accepted')
    for (const response of responses) assert.deepEqual(response, responses[0])
    await clearFailures(api)
  })

  test('five wrong PINs block the right one', async () => {
    const { api } = shop()
    const [number] = usableNumbers
    for (let i = 0; i < 5; i++) await validate(api, number, '10.00', '111111')
    assertProblem(await validate(api, number), 'voucher_not_accepted', api.baseUrl)
    await clearFailures(api)
    assert.equal((await validate(api, number)).status, 200)
  })

  test('an unusable or insufficient voucher cannot be validated', async () => {
    const { api } = shop()
    for (const [number, pin, reason] of [
      ['6000003', '3333', 'redeemed'],
      ['6000004', '4444', 'not issued'],
      ['6000007', '7777', 'expired'],
    ] as const) {
      const response = await validate(api, number, '1.00', pin)
      assertProblem(response, 'voucher_unusable', api.baseUrl, '/vouchers/validate')
      assert.equal(response.json.reason, reason)
    }
    assertProblem(await validate(api, usableNumbers[1], '100.01'), 'insufficient_voucher_balance', api.baseUrl)
    assert.equal((await validate(api, usableNumbers[1], '100.00')).status, 200)
  })

  test('one client holds a voucher until releasing it', async () => {
    const { api } = shop()
    const [, , number] = usableNumbers
    const other = await api.createAccount('visitor')
    const ownValidationId = await getValidationId(api, number)
    const locked = await lockVoucher(api, number, ownValidationId, 600)
    assert.equal(locked.status, 200, locked.text)
    assert.equal(locked.json.data.status, 'locked')
    const rejected = await validate(other, number)
    assertProblem(rejected, 'voucher_locked', api.baseUrl, '/vouchers/validate')
    assert.equal(rejected.json.lockedUntil, locked.json.data.lockedUntil)
    assert.equal(
      (await lockVoucher(api, number, ownValidationId, 700)).status,
      200,
      "the other client doesn't affect the holder's lock",
    )
    const back = await lockVoucher(api, number, ownValidationId, 0)
    assert.deepEqual([back.json.data.status, back.json.data.lockedUntil], ['active', null])
    const otherValidationId = await getValidationId(other, number)
    assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
    assert.equal((await lockVoucher(other, number, otherValidationId)).status, 200)
    assertProblem(await lockVoucher(api, number, ownValidationId), 'voucher_locked', api.baseUrl)
    assert.equal((await lockVoucher(other, number, otherValidationId, 0)).status, 200)
  })

  test('a PIN validates and locks in one step, by PUT or POST', async () => {
    const { api } = shop()
    const [, , number] = usableNumbers
    const other = await api.createAccount('visitor')
    for (const send of [put, post]) {
      const lock = (caller: Caller, body: object) => send(caller, `/vouchers/${number}/lock`, body)
      const locked = await lock(api, { pin: usablePin, amount: '10.00', lockSeconds: 600 })
      assert.equal(locked.status, 200, locked.text)
      const { validationId, ...voucher } = locked.json.data
      assert.equal(voucher.status, 'locked')
      assertProblem(await lock(other, { pin: usablePin }), 'voucher_locked', api.baseUrl)
      assertProblem(await validate(other, number), 'voucher_locked', api.baseUrl)
      const renewed = await lock(api, { validationId, lockSeconds: 700 })
      assert.ok(renewed.json.data.lockedUntil > voucher.lockedUntil, 'the holder can renew its lock')
      assert.equal('validationId' in renewed.json.data, false)
      assert.equal((await lock(api, { validationId, lockSeconds: 0 })).json.data.status, 'active')
      const withoutAmount = await lock(other, { pin: usablePin })
      assert.equal(withoutAmount.status, 200, 'the amount is optional')
      await lock(other, { validationId: withoutAmount.json.data.validationId, lockSeconds: 0 })
    }
  })

  test('a lock by PIN is rejected and counted like a validation', async () => {
    const { api } = shop()
    const [, , number] = usableNumbers
    const lock = (body: object, voucherNumber: string = number) => post(api, `/vouchers/${voucherNumber}/lock`, body)
    assertProblem(await lock({ pin: usablePin, amount: '999999.00' }), 'insufficient_voucher_balance', api.baseUrl)
    assertProblem(await lock({ pin: usablePin, amount: '0.00' }), 'invalid_field', api.baseUrl)
    assertProblem(await lock({ pin: '3333' }, '6000003'), 'voucher_unusable', api.baseUrl)
    await clearFailures(api)
    for (let i = 0; i < 5; i++) assertProblem(await lock({ pin: '111111' }), 'voucher_not_accepted', api.baseUrl)
    assertProblem(await lock({ pin: usablePin }), 'voucher_not_accepted', api.baseUrl)
    await clearFailures(api)
    assert.equal((await validate(api, number)).status, 200, 'no other client holds it')
  })

  test('one of several clients validating and locking concurrently holds the voucher', async () => {
    const { api } = shop()
    const [, , , number] = usableNumbers
    const responses = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const validated = await retryUntilUncontended(() => validate(api, number))
        if (validated.status !== 200) return validated
        return retryUntilUncontended(() => lockVoucher(api, number, validated.json.data.validationId))
      }),
    )
    assert.ok(responses.filter(({ status }) => status === 200).length <= 1)
    for (const { status, json } of responses)
      if (status !== 200) assert.match(json.code, /^(voucher_locked|validation_id_incorrect)$/)
    const later = await validate(api, number)
    assert.equal(later.status, responses.some(({ status }) => status === 200) ? 409 : 200)
  })

  test('a sold voucher has its PIN or is pending, once per key', async () => {
    const { api, driver, simulator } = shop()
    const body = { ...gift, billingAddress: { city: 'Melbourne' } }
    const key = { 'idempotency-key': `gift-${shop().release}-${driver}` }
    const response = await post(api, '/vouchers', body, key)
    assert.equal(response.status, driver === 'embedded' ? 201 : 202, response.text)
    const { data } = response.json
    assert.deepEqual([data.originalAmount, data.usedAmount, data.currency], ['150.00', '0.00', 'AUD'])
    const replay = await post(api, '/vouchers', body, key)
    assert.equal(replay.headers['idempotent-replayed'], 'true')
    assert.equal(replay.text, response.text)
    if (driver === 'apparel21') {
      assert.deepEqual([data.status, data.number, data.pin], ['pending', null, null])
      assert.equal(simulator.ledger.findEffects('voucher sold').length, 1)
      simulator.change({ kind: 'allot-vouchers' })
    }
    const [mail] = simulator.state.mail
    const opening =
      driver === 'apparel21' ? { number: mail?.voucher, pin: mail?.pin } : { number: data.number, pin: data.pin }
    const voucher = (await post(api, '/vouchers/lookup', opening)).json.data
    assert.deepEqual([voucher.status, voucher.availableAmount], ['active', '150.00'])
    const { gateway: _, ...without } = body
    assert.equal((await post(api, '/vouchers', without)).status, response.status)
    assertProblem(await post(api, '/vouchers', { ...body, gateway: 'cash' }), 'unknown_gateway', api.baseUrl)
    assertProblem(await post(api, '/vouchers', { ...body, amount: '0.00' }), 'invalid_field', api.baseUrl)
  })
}
