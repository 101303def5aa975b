import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { lockVoucher } from '../../support/voucher-shop.ts'
import { post, withKey } from '../../support/write.ts'
import { shopOfTests } from '../shop.ts'
import { ordersOf } from './orders.ts'

const shop = await shopOfTests()
const { api, simulator } = shop
const { order, placed, tee, validated, voucher } = await ordersOf(shop)
const { number, pin } = voucher('6000001')

/** Makes the tee cost more, or less: what was paid is not what is due any more. */
const reprice = (by: number) =>
  api.db.run(
    sql`update variant set price = price + ${by}::integer where service_id = ${api.service.id} and sku = ${tee.sku}`,
  )
const loseResponse = () =>
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Orders', times: 1 })
const lookUp = async () => (await post(api, '/vouchers/lookup', { number, pin })).json.data

/** An order of which a voucher that is locked pays 2.00. */
async function paidByVoucher() {
  const pays = await validated(number, pin, '2.00')
  assert.equal((await lockVoucher(api, number, pays.validationId)).status, 200)
  const payments = [
    { gateway: 'visa', amount: toDollars(toCents(tee.price) - 200) },
    { gateway: 'visa', amount: '2.00', voucher: pays },
  ]
  return order({ payments })
}

for (const finish of ['repeat', 'reconciliation'] as const)
  test(`the ${finish} of a repriced order releases the voucher that paid`, async t => {
    t.after(() => reprice(-1))
    const [body, key, { used }] = [await paidByVoucher(), withKey(), voucher(number)]
    loseResponse()
    assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
    await reprice(1)
    if (finish === 'reconciliation') await shop.followUp()
    else getCreatedRecord(await post(api, '/orders', body, key))
    assert.deepEqual([placed(), voucher(number).used], [1, used + 2])
    assert.equal((await lookUp()).status, 'active')
    const { validationId } = await validated(number, pin, '1.00')
    assert.equal((await lockVoucher(api, number, validationId)).status, 200)
    assert.equal((await lockVoucher(api, number, validationId, 0)).status, 200)
  })

test('a late order keeps a newer validation of its voucher', async () => {
  const [body, key] = [await paidByVoucher(), withKey()]
  loseResponse()
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  // As if the write had been abandoned and arrived late.
  for (const table of [sql`intent`, sql`reservation`]) await api.db.run(sql`delete from ${table}`)
  await api.db.run(sql`update upstream_voucher set locked_until = now() - interval '1 s' where number = ${number}`)
  const otherValidation = await validated(number, pin, '1.00')
  const { availableAmount } = await lookUp()
  getCreatedRecord(await post(api, '/orders', body, key))
  assert.equal(placed(), 1)
  const locked = await lockVoucher(api, number, otherValidation.validationId)
  assert.deepEqual([locked.status, locked.json.data.availableAmount], [200, availableAmount])
  assert.equal((await lockVoucher(api, number, otherValidation.validationId, 0)).status, 200)
})
