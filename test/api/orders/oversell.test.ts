import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { buildOrder, getStock, placeOrder, startOrderShop } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { post } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())

test('an order beyond the sellable units is rejected with the shortfall per line', async () => {
  const caller = await createShop({ oversell: 'refuse', inventoryBuffer: 1 })
  const lines = [
    { sku: 'TEE', quantity: 3 },
    { sku: 'HOOD-M', quantity: 3 },
    { sku: 'TEE', quantity: 2 },
    { sku: 'UNKEPT', quantity: 1 },
  ]
  const rejected = await post(caller, '/orders', buildOrder(lines))
  assertProblem(rejected, 'insufficient_stock', api.baseUrl, '/orders')
  assert.deepEqual(
    rejected.json.errors.map(({ pointer, available, requested }: Record<string, unknown>) => [
      pointer,
      available,
      requested,
    ]),
    [
      ['/lines/0/quantity', 4, 5],
      ['/lines/2/quantity', 4, 5],
      ['/lines/3/quantity', 0, 1],
    ],
  )
  assert.equal(rejected.json.errors[0].detail, '5 of TEE were ordered, but only 4 can be sold.')
  const trial = await post(caller, '/orders', buildOrder(lines), { prefer: 'tx=rollback' })
  assert.equal(trial.json.code, 'insufficient_stock')
  assert.equal((await getStock(caller))['1002 TEE'], 5)
  await placeOrder(caller, [{ sku: 'TEE', quantity: 4 }])
  assert.equal((await getStock(caller))['1002 TEE'], 1)
})

test('units of unshipped orders cannot be sold again', async () => {
  const caller = await createShop({ oversell: 'refuse', fulfilment: 'manual' })
  await placeOrder(caller, [{ sku: 'TEE', quantity: 3 }])
  const rejected = await post(caller, '/orders', buildOrder([{ sku: 'TEE', quantity: 3 }]))
  assert.deepEqual([rejected.json.code, rejected.json.errors[0].available], ['insufficient_stock', 2])
})

test('an order beyond the stock is accepted if overselling is allowed', async () => {
  const caller = await createShop({ oversell: 'allow' })
  await placeOrder(caller, [{ sku: 'TEE', quantity: 9 }])
  assert.equal((await getStock(caller))['1002 TEE'], -4)
})

for (const fulfilment of ['automatic', 'manual'] as const)
  test(`concurrent clients get only the last units (${fulfilment})`, async () => {
    const caller = await createShop({ oversell: 'refuse', fulfilment })
    const responses = await Promise.all(
      Array.from({ length: 40 }, () => post(caller, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }]))),
    )
    const count = (status: number) => responses.filter(response => response.status === status).length
    assert.deepEqual([count(201), count(422)], [5, 35])
    assert.equal((await getStock(caller))['1002 TEE'], 0)
  })
