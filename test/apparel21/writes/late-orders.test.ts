import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRejected } from '../../support/customer-bodies.ts'
import { getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, withKey } from '../../support/write.ts'
import { count, shopOfTests } from '../shop.ts'
import { ordersOf } from './orders.ts'

const shop = await shopOfTests()
const { api, simulator } = shop
const { order, placed, rows, tee, upstream, validated, voucher } = await ordersOf(shop)

/**
 * Sends an order that arrives only after recovery has looked for it and abandoned it. Returns the back office's order.
 */
async function late(body: object, headers: Record<string, string>) {
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assertProblem(await post(api, '/orders', body, headers), 'outcome_unknown', api.baseUrl)
  const there = upstream(simulator.ledger.effectsOf('order created')[0]?.id ?? '')
  simulator.state.orders.delete(there.id)
  for (let i = 0; i < 2; i++) await shop.followUp()
  assert.deepEqual([await count(api, api, 'intent'), await count(api, api, 'reservation')], [0, 0])
  simulator.state.orders.set(there.id, there)
  return there
}

for (const orderNumber of ['LATE-1', undefined])
  for (const isLookedUp of [false, true])
    test(`a late order is found ${orderNumber ? 'with' : 'without'} a number${isLookedUp ? ' despite a look-up' : ''}`, async () => {
      const pays = await validated('6000001', '1234', '2.00')
      const used = voucher('6000001').used
      const payments = [
        { gateway: 'visa', amount: toDollars(toCents(tee.price) - 200) },
        { gateway: 'visa', amount: '2.00', voucher: pays },
      ]
      const number = orderNumber && `${orderNumber}-${isLookedUp}`
      const [body, key, before] = [order({ payments, ...(number && { orderNumber: number }) }), withKey(), await rows()]
      const there = await late(body, key)
      if (isLookedUp) assert.equal((await api.get(`/orders?order_number=${there.number}`)).json.data.length, 1)
      const repeat = getCreatedRecord(await post(api, '/orders', body, key))
      assert.deepEqual([repeat.id, repeat.orderNumber], [String(there.id), there.number])
      assert.deepEqual([placed(), await rows(), voucher('6000001').used], [1, before + 1, used + 2])
      assert.equal((await post(api, '/orders', body, key)).headers['idempotent-replayed'], 'true')
      assertRejected(
        api,
        await post(api, '/orders', order({ payments })),
        'validation_id_incorrect',
        '/payments/1/voucher',
      )
    })

test('a looked-up number belongs to its order only', async () => {
  const body = order({ orderNumber: 'LATE-2' })
  const there = await late(body, withKey())
  assert.equal((await api.get(`/orders/${there.number}`)).status, 200)
  const more = order({
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
  assert.equal(placed(), 1)
})
