import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { buildOrder, fillShop, getStock, placeOrder, startOrderShop } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { assertReplay, post, withKey } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())

test('an order beyond the sellable units is rejected with each shortfall', async () => {
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
  const dryRun = await post(caller, '/orders', buildOrder(lines), { prefer: 'tx=rollback' })
  assert.equal(dryRun.json.code, 'insufficient_stock')
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

test('repeats get the stored response although no units remain', async () => {
  const caller = await createShop({ oversell: 'refuse', inventoryBuffer: 0 })
  const reservation = { lines: [{ sku: 'HOOD-M', quantity: 4 }] }
  const order = buildOrder([{ sku: 'TEE', quantity: 5 }], { orderNumber: 'LAST-UNITS' })
  // If a SKU had too few units, later requests for it are checked earlier.
  const tooMany = [
    { sku: 'TEE', quantity: 6 },
    { sku: 'HOOD-M', quantity: 99 },
  ]
  assert.equal((await post(caller, '/orders', buildOrder(tooMany))).json.code, 'insufficient_stock')
  for (const [path, body] of [
    ['/reservations', reservation],
    ['/orders', order],
  ] as const) {
    const key = withKey()
    const responses = await Promise.all(Array.from({ length: 5 }, () => post(caller, path, body, key)))
    const first = responses.find(({ headers }) => headers['idempotent-replayed'] === undefined && headers.location)
    assert.ok(first, path)
    for (const response of responses)
      if (response !== first && response.json.code !== 'idempotency_in_progress') assertReplay(response, first)
    assertReplay(await post(caller, path, body, key), first)
  }
  assert.equal((await post(caller, '/reservations', reservation)).json.code, 'insufficient_stock')
  // Without the key, the number shows that the order was placed.
  assert.equal((await post(caller, '/orders', order)).json.code, 'order_number_taken')
  const getCode = async (skus: string[]) =>
    (await post(caller, '/orders', buildOrder(skus.map(sku => ({ sku, quantity: 1 }))))).json.code
  assert.deepEqual([await getCode(['TEE']), await getCode(['TEE', 'NONE'])], ['insufficient_stock', 'unknown_sku'])
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

test('a new service rejects overselling, except of backorder SKUs', async () => {
  const shop = await api.createService({ currency: 'AUD' })
  await fillShop(api.db, shop.service)
  const placeTees = () => post(shop, '/orders', buildOrder([{ sku: 'TEE', quantity: 6 }]))
  assertProblem(await placeTees(), 'insufficient_stock', api.baseUrl, '/orders')
  const admin = await api.createAccount('admin', shop.service)
  const csv = 'productId,productCode,name,colourId,skuId,sku,sizeCode,price,allowBackorder,preorderDate\n'
  const line = 'p-TEE,C-TEE,Style TEE,BLK,id-TEE,TEE,S,10.00,true,2027-03-01\n'
  const imported = await admin.request('/imports?type=products', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: csv + line,
  })
  assert.equal(imported.status, 202, imported.text)
  const { id } = imported.json.data
  await waitUntil(async () => (await admin.get(`/imports/${id}`)).json.data.state === 'ok', 'the import ends', 10_000)
  const [size] = (await shop.get('/products/p-TEE')).json.data.colours[0].sizes
  assert.deepEqual([size.allowBackorder, size.preorderDate], [true, '2027-03-01'])
  const reserved = await post(shop, '/reservations', { lines: [{ sku: 'TEE', quantity: 6 }] })
  assert.equal(reserved.json.data.lines[0].quantity, 5, reserved.text)
  assertProblem(
    await post(shop, '/orders', buildOrder([{ sku: 'HOOD-M', quantity: 5 }])),
    'insufficient_stock',
    api.baseUrl,
  )
  assert.equal((await placeTees()).status, 201)
  assert.equal((await getStock(shop))['1002 TEE'], -1)
})
