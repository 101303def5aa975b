import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { lockVoucher } from '../../support/voucher-shop.ts'
import { post, withKey } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { buildOrder, countPlaced, tee, validateVoucher, findVoucher } = await createOrderFixture(shop)
const { number, pin } = findVoucher('6000001')

/** Changes the price of the tee by whole dollars, so that an earlier payment no longer matches. */
const changePrice = (dollars: number) =>
  api.db.run(
    sql`update variant set price = price + ${dollars}::integer where service_id = ${api.service.id} and sku = ${tee.sku}`,
  )
const loseResponse = () =>
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
const lookUp = async () => (await post(api, '/vouchers/lookup', { number, pin })).json.data

/** Locks the voucher and builds an order of which the voucher pays 2.00. */
async function buildOrderPaidByVoucher() {
  const voucherPayment = await validateVoucher(number, pin, '2.00')
  assert.equal((await lockVoucher(api, number, voucherPayment.validationId)).status, 200)
  const payments = [
    { gateway: 'visa', amount: toDollars(toCents(tee.price) - 200) },
    { gateway: 'visa', amount: '2.00', voucher: voucherPayment },
  ]
  return buildOrder({ payments })
}

for (const finish of ['repeat', 'reconciliation'] as const)
  test(`the ${finish} of a repriced order releases the voucher that paid`, async t => {
    t.after(() => changePrice(-1))
    const [body, key, { used }] = [await buildOrderPaidByVoucher(), withKey(), findVoucher(number)]
    loseResponse()
    assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
    await changePrice(1)
    if (finish === 'reconciliation') await shop.recoverWrites()
    else getCreatedRecord(await post(api, '/orders', body, key))
    assert.deepEqual([countPlaced(), findVoucher(number).used], [1, used + 2])
    assert.equal((await lookUp()).status, 'active')
    const { validationId } = await validateVoucher(number, pin, '1.00')
    assert.equal((await lockVoucher(api, number, validationId)).status, 200)
    assert.equal((await lockVoucher(api, number, validationId, 0)).status, 200)
  })

test('a late order keeps a newer validation of its voucher', async () => {
  const [body, key] = [await buildOrderPaidByVoucher(), withKey()]
  loseResponse()
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  // As if the write had been abandoned and arrived late.
  for (const table of [sql`intent`, sql`reservation`]) await api.db.run(sql`delete from ${table}`)
  await api.db.run(sql`update upstream_voucher set locked_until = now() - interval '1 s' where number = ${number}`)
  const otherValidation = await validateVoucher(number, pin, '1.00')
  const { availableAmount } = await lookUp()
  getCreatedRecord(await post(api, '/orders', body, key))
  assert.equal(countPlaced(), 1)
  const locked = await lockVoucher(api, number, otherValidation.validationId)
  assert.deepEqual([locked.status, locked.json.data.availableAmount], [200, availableAmount])
  assert.equal((await lockVoucher(api, number, otherValidation.validationId, 0)).status, 200)
})
