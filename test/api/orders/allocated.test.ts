import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cancelOrder, shipOrder } from '../../../src/backoffice/embedded/fulfilment.ts'
import { createImporter } from '../../import/import-command.ts'
import { importAndWait } from '../../support/import-and-wait.ts'
import { buildOrder, placeOrder, startOrderShop } from '../../support/order-shop.ts'
import type { Caller } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())
const runImport = createImporter(api)

const getStock = async (caller: Caller) => {
  const { data } = (await caller.get('/inventory?sku=TEE')).json
  const { freeStock, sellable, allocated, reserved } = data[0]
  assert.equal(reserved, 0)
  return { freeStock, sellable, allocated }
}
const importStock = async (caller: Caller, freeStock: number) => {
  const { code } = await runImport(caller, 'stock', `storeNumber,sku,freeStock\n102,TEE,${freeStock}\n`)
  assert.equal(code, 0)
}
const lines = [{ sku: 'TEE', quantity: 3 }]

test('units of unshipped orders are not sellable, also after a stock file', async () => {
  const caller = await createShop({ fulfilment: 'manual' })
  assert.deepEqual(await getStock(caller), { freeStock: 5, sellable: 5, allocated: 0 })
  const { asOf } = (await caller.get('/inventory?limit=1')).json.meta
  const { orderNumber } = await placeOrder(caller, lines)
  assert.deepEqual(await getStock(caller), { freeStock: 5, sellable: 2, allocated: 3 })
  const changes = (await caller.get(`/inventory?updated_after=${asOf}`)).json.data
  assert.deepEqual(
    changes.map(({ sku, sellable }: { sku: string; sellable: number }) => [sku, sellable]),
    [['TEE', 2]],
  )
  await importStock(caller, 5)
  assert.deepEqual(await getStock(caller), { freeStock: 5, sellable: 2, allocated: 3 })
  await importStock(caller, 10)
  assert.deepEqual(await getStock(caller), { freeStock: 10, sellable: 7, allocated: 3 })
  await api.db.transaction(tx => shipOrder(tx, caller.service, { number: orderNumber }))
  assert.deepEqual(await getStock(caller), { freeStock: 7, sellable: 7, allocated: 0 })
})

test('cancelling an unshipped order makes its units sellable', async () => {
  const caller = await createShop({ fulfilment: 'manual' })
  const first = await placeOrder(caller, lines)
  await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }])
  assert.deepEqual(await getStock(caller), { freeStock: 5, sellable: 1, allocated: 4 })
  await api.db.transaction(tx => cancelOrder(tx, caller.service, { number: first.orderNumber }))
  assert.deepEqual(await getStock(caller), { freeStock: 5, sellable: 4, allocated: 1 })
})

test('an order that ships at once takes its units off the stock', async () => {
  const caller = await createShop()
  await placeOrder(caller, lines)
  assert.deepEqual(await getStock(caller), { freeStock: 2, sellable: 2, allocated: 0 })
})

test('an explanation shows if the source still counts unshipped orders', async () => {
  for (const allocated of ['excluded', 'included'] as const) {
    const caller = await createShop({ fulfilment: 'manual', allocated })
    const [level] = (await caller.get('/inventory?sku=TEE&explain=true')).json.data
    assert.equal(level.explanation.unshipped, allocated)
  }
})

test('stock files that have orders taken off replace the stock', async () => {
  const caller = await createShop({ fulfilment: 'manual', allocated: 'included' })
  const { orderNumber } = await placeOrder(caller, lines)
  assert.deepEqual(await getStock(caller), { freeStock: 2, sellable: 2, allocated: 0 })
  await importStock(caller, 2)
  await api.db.transaction(tx => shipOrder(tx, caller.service, { number: orderNumber }))
  assert.deepEqual(await getStock(caller), { freeStock: 2, sellable: 2, allocated: 0 })
})

test('an order keeps its allocation when the setting changes', async () => {
  const caller = await createShop({ fulfilment: 'manual', allocated: 'included' })
  const before = await placeOrder(caller, lines)
  const excluded = { ...caller.service, settings: { ...caller.service.settings, allocated: 'excluded' as const } }
  await api.db.transaction(tx => cancelOrder(tx, excluded, { number: before.orderNumber }))
  assert.deepEqual(await getStock(caller), { freeStock: 5, sellable: 5, allocated: 0 })
})

test('an order takes units from the store with most free units', async () => {
  const caller = await createShop({ fulfilment: 'manual' })
  await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 25 }])
  await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 7 }])
  const { data } = (await caller.get('/inventory?sku=HOOD-S')).json
  assert.deepEqual(
    data.map(({ storeNumber, sellable }: { storeNumber: string; sellable: number }) => [storeNumber, sellable]).sort(),
    [
      ['101', 3],
      ['102', 5],
    ],
  )
})

test('the explanation of a stock level names the origin of its buffer', async () => {
  const caller = await createShop({ inventoryBuffer: 2 })
  const explain = async () => {
    const [level] = (await caller.get('/inventory?sku=TEE&explain=true')).json.data
    const { data } = (await caller.get(`/inventory/${level.id}?explain=true`)).json
    assert.deepEqual(data, level)
    const listed = (await caller.get('/inventory?explain=true')).json.data
    assert.deepEqual(
      listed.find(({ id }: { id: string }) => id === level.id),
      level,
    )
    assert.match(level.explanation.sourceTimeStamp, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    return [level.buffer, level.explanation.bufferFrom]
  }
  assert.deepEqual(await explain(), [2, 'service'])
  assert.equal((await runImport(caller, 'stock', 'storeNumber,sku,freeStock,buffer\n102,TEE,9,4\n')).code, 0)
  assert.deepEqual(await explain(), [4, 'sku'])
  assert.equal((await caller.get('/inventory?sku=TEE')).json.data[0].explanation, undefined)
})

test('weighed stock has three decimals, of which orders take whole units', async () => {
  const shop = await createShop({ oversell: 'refuse' })
  const upload = (freeStock: string, options = '') =>
    importAndWait(shop, `stock?delimiter=%3B${options}`, `storeNumber;sku;freeStock\n102;TEE;${freeStock}\n`)
  assert.equal((await upload('12,345', '&decimal=,')).changed, 1)
  assert.deepEqual(await getStock(shop), { freeStock: 12.345, sellable: 12.345, allocated: 0 })
  assert.equal((await upload('12.3450')).unchanged, 1)
  const { path } = await upload('1.2345')
  assert.equal((await shop.get(`${path}/rejected`)).json.data[0].reason, 'must have at most three decimals')
  assert.equal((await upload('2.750')).changed, 1)
  assert.match((await shop.get('/inventory?sku=TEE')).text, /"freeStock":2\.75,/)
  const { status, json } = await post(shop, '/orders', buildOrder([{ sku: 'TEE', quantity: 3 }]))
  assert.deepEqual([status, json.errors[0].available], [422, 2], JSON.stringify(json))
  await placeOrder(shop, [{ sku: 'TEE', quantity: 2 }])
  assert.deepEqual(await getStock(shop), { freeStock: 0.75, sellable: 0.75, allocated: 0 })
  const record = JSON.stringify({ storeNumber: '102', sku: 'TEE', freeStock: 0.75 })
  const again = await importAndWait(shop, 'stock', record, { 'content-type': 'application/x-ndjson' })
  assert.deepEqual([again.unchanged, again.rejected], [1, 0])
})
