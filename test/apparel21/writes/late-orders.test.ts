import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRejected } from '../../support/customer-bodies.ts'
import { getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, withKey } from '../../support/write.ts'
import { countRows, startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { buildOrder, countPlaced, countOrders, tee, findUpstreamOrder, validateVoucher, findVoucher } =
  await createOrderFixture(shop)

/**
 * Sends an order that arrives only after recovery has looked for it and abandoned it. Returns the back office's order.
 */
async function sendLateOrder(body: object, headers: Record<string, string>) {
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assertProblem(await post(api, '/orders', body, headers), 'outcome_unknown', api.baseUrl)
  const upstreamOrder = findUpstreamOrder(simulator.ledger.findEffects('order created')[0]?.id ?? '')
  simulator.state.orders.delete(upstreamOrder.id)
  for (let i = 0; i < 2; i++) await shop.recoverWrites()
  assert.deepEqual([await countRows(api, api, 'intent'), await countRows(api, api, 'reservation')], [0, 0])
  simulator.state.orders.set(upstreamOrder.id, upstreamOrder)
  return upstreamOrder
}

for (const orderNumber of ['LATE-1', undefined])
  for (const isLookedUp of [false, true])
    test(`a late order is found ${orderNumber ? 'with' : 'without'} a number${isLookedUp ? ' despite a look-up' : ''}`, async () => {
      const voucherPayment = await validateVoucher('6000001', '1234', '2.00')
      const usedBefore = findVoucher('6000001').used
      const payments = [
        { gateway: 'visa', amount: toDollars(toCents(tee.price) - 200) },
        { gateway: 'visa', amount: '2.00', voucher: voucherPayment },
      ]
      const number = orderNumber && `${orderNumber}-${isLookedUp}`
      const [body, key, before] = [
        buildOrder({ payments, ...(number && { orderNumber: number }) }),
        withKey(),
        await countOrders(),
      ]
      const upstreamOrder = await sendLateOrder(body, key)
      if (isLookedUp) assert.equal((await api.get(`/orders?order_number=${upstreamOrder.number}`)).json.data.length, 1)
      const repeat = getCreatedRecord(await post(api, '/orders', body, key))
      assert.deepEqual([repeat.id, repeat.orderNumber], [String(upstreamOrder.id), upstreamOrder.number])
      assert.deepEqual(
        [countPlaced(), await countOrders(), findVoucher('6000001').used],
        [1, before + 1, usedBefore + 2],
      )
      assert.equal((await post(api, '/orders', body, key)).headers['idempotent-replayed'], 'true')
      assertRejected(
        api,
        await post(api, '/orders', buildOrder({ payments })),
        'validation_id_incorrect',
        '/payments/1/voucher',
      )
    })

test('a looked-up number belongs to its order only', async () => {
  const body = buildOrder({ orderNumber: 'LATE-2' })
  const upstreamOrder = await sendLateOrder(body, withKey())
  assert.equal((await api.get(`/orders/${upstreamOrder.number}`)).status, 200)
  const more = buildOrder({
    ...body,
    lines: [{ sku: tee.sku, quantity: 2 }],
    payments: [{ gateway: 'visa', amount: toDollars(2 * toCents(tee.price)) }],
  })
  assertRejected(
    api,
    await post(api, '/orders', { ...more, orderNumber: 'LATE-2' }),
    'order_number_taken',
    '/orderNumber',
  )
  getCreatedRecord(await post(api, '/orders', body))
  assertRejected(api, await post(api, '/orders', body), 'order_number_taken', '/orderNumber')
  assert.equal(countPlaced(), 1)
})
