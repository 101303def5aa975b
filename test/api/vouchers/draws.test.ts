import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { validate as validateVoucher } from '../../../src/backoffice/embedded/vouchers/lock.ts'
import { redeemVoucher } from '../../../src/backoffice/embedded/vouchers/redeem.ts'
import { sql } from '../../../src/database/db.ts'
import { ApiError } from '../../../src/errors/api-error.ts'
import { startTestApi } from '../../support/service.ts'
import { listLedgerSteps, newVoucher, voucherSettings } from '../../support/voucher-shop.ts'
import { createVoucherOperations } from './ledger.ts'

const api = await startTestApi({ settings: voucherSettings })
after(() => api.stop())

const { outcome, validate, draw, lock, refund, assertSound } = createVoucherOperations(api)

test('a draw uses a validation once, for its own voucher only', async () => {
  const number = await newVoucher(api)
  const id = String(await validate(number))
  assert.equal(await draw(await newVoucher(api), id, '1.00'), 'validation_id_incorrect')
  assert.equal(await draw('nope', id, '1.00'), 'validation_id_incorrect')
  assert.equal(await draw(number, id, '150.01'), 'insufficient_voucher_balance')
  assert.equal(await draw(number, id, '100.10'), undefined)
  assert.equal(await draw(number, id, '1.00'), 'validation_id_incorrect')
  assert.equal(await draw(number, String(await validate(number)), '49.90'), undefined)
  assert.equal((await assertSound(number)).state, 'redeemed')
  assert.deepEqual(await listLedgerSteps(api, api, number), [
    ...['issue active', 'lock locked', 'redeem active'],
    ...['lock locked', 'redeem redeemed'],
  ])
  assert.equal(await validate(number), 'voucher_unusable')
})

test("a draw ends its validation's lock and a stale holder cannot draw", async () => {
  const number = await newVoucher(api)
  const ownValidationId = String(await validate(number))
  await lock(number, ownValidationId, 3_600)
  assert.equal(await draw(number, ownValidationId, '10.00'), undefined)
  const otherValidationId = String(await validate(number))
  await lock(number, otherValidationId, 3_600)
  assert.equal(await draw(number, ownValidationId, '10.00'), 'voucher_locked')
  await api.db.run(
    sql`update voucher set locked_until = now() where service_id = ${api.service.id} and number = ${number}`,
  )
  assert.equal(await draw(number, ownValidationId, '10.00'), 'validation_id_incorrect')
  assert.equal(
    await draw(number, otherValidationId, '10.00'),
    undefined,
    'its lock has expired, and no other client has validated',
  )
  assert.equal((await assertSound(number)).cents, 13_000n)
})

test('a draw error points to the voucher in the order', async () => {
  const number = await newVoucher(api, { state: 'suspended' })
  const shop = { ...api.service, settings: { ...api.service.settings, requireFullRedemption: true } }
  const assertRedemptionRejected = (redemption: { number: string; validationId: string }, service = api.service) =>
    assert.rejects(
      api.db.transaction(tx =>
        redeemVoucher(tx, api.keys, service, {
          ...redemption,
          amount: '1.00',
          orderNumber: 'W1',
          pointer: '/payments/2/voucher',
        }),
      ),
      (error: ApiError) => {
        assert.deepEqual(
          error.errors.map(({ pointer, code }) => [pointer, code]),
          [['/payments/2/voucher', error.code]],
        )
        return true
      },
    )
  await assertRedemptionRejected({ number, validationId: 'x' })
  const otherNumber = await newVoucher(api)
  const validationId = String(await validate(otherNumber))
  await assertRedemptionRejected({ number: otherNumber, validationId }, shop)
})

test('one validation is drawn once under concurrency', async () => {
  const number = await newVoucher(api)
  const id = String(await validate(number))
  const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => draw(number, id, '10.00', `W${i}`)))
  assert.equal(outcomes.filter(code => code === undefined).length, 1)
  assert.equal(outcomes.filter(code => code === 'validation_id_incorrect').length, 49)
  assert.equal((await assertSound(number)).cents, 14_000n)
})

test("200 concurrent redemptions draw exactly the voucher's balance", async () => {
  const number = await newVoucher(api)
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      outcome(async tx => {
        const validationId = await validateVoucher(tx, api.keys, api.service, { number, amount: '1.10' })
        if (validationId instanceof ApiError) return validationId
        const redemption = { number, validationId, amount: '1.10', orderNumber: `W${i}`, pointer: '' }
        return redeemVoucher(tx, api.keys, api.service, redemption)
      }),
    ),
  )
  assert.equal(outcomes.filter(code => code === undefined).length, 136)
  assert.equal(outcomes.filter(code => code === 'insufficient_voucher_balance').length, 64)
  assert.deepEqual(await assertSound(number), { state: 'active', cents: 40n })
})

test("a refund reopens a spent voucher up to the order's draw", async () => {
  const number = await newVoucher(api)
  await draw(number, String(await validate(number)), '100.00', 'W1')
  await draw(number, String(await validate(number)), '50.00', 'W2')
  assert.equal((await assertSound(number)).state, 'redeemed')
  assert.equal(await refund(number, 2_000n, 'W2'), 2_000n)
  assert.equal(await refund(number, 1_00n, 'W3'), 0n)
  assert.deepEqual(await assertSound(number), { state: 'active', cents: 2_000n })
  const refunds = await Promise.all(Array.from({ length: 10 }, () => refund(number, 2_000n, 'W2')))
  assert.deepEqual(refunds.filter(cents => cents > 0n).toSorted(), [1_000n, 2_000n])
  assert.equal((await assertSound(number)).cents, 5_000n)
})
