import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { importAndWait, readData } from '../support/import-and-wait.ts'
import { type Caller, startTestApi } from '../support/service.ts'

// Files of contributing/field-reports.md whose result no other test shows.

const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => api.stop())

const productHeader = 'productId,productCode,name,colourId,skuId,sku,sizeCode,price,barcode'

async function listReasons(caller: Caller, id: string): Promise<string[]> {
  const rejections = await readData(caller, `/imports/${id}/rejected`)
  return rejections.map(({ column, reason }: { column: string; reason: string }) => `${column} ${reason}`)
}

test('variable prices and repeated SKUs of a catalogue are rejected', async () => {
  const caller = await api.createService()
  const lines = ['A,A,N,A,1,90.750,M,1.00,0012345678905', 'B,B,N,B,2,90.750,M,1.00,', 'C,C,N,C,3,C,M,variable,']
  const { id, ...counts } = await importAndWait(caller, 'products', `${[productHeader, ...lines].join('\n')}\n`)
  assert.deepEqual([counts.new, counts.rejected], [1, 2])
  const reasons = await listReasons(caller, id)
  assert.ok(reasons.includes('sku belongs to another SKU'), reasons.join())
  assert.ok(
    reasons.some(reason => reason.startsWith('price must be an amount')),
    reasons.join(),
  )
  const [size] = (await readData(caller, '/products/A')).colours[0].sizes
  assert.deepEqual([size.ecommerceSku, size.barcode], ['90.750', '0012345678905'])
})

test('a barcode in the stock column is rejected with the limit', async () => {
  const caller = await api.createService()
  await importAndWait(caller, 'stores', 'storeId,storeNumber,name,country\n1,001,North,USA\n')
  await importAndWait(caller, 'products', `${productHeader}\nA,A,N,A,1,SKU,M,1.00,\n`)
  const file = 'storeNumber,sku,freeStock\n001,SKU,9300000000002\n001,SKU,-7\n'
  const { id } = await importAndWait(caller, 'stock', file)
  assert.deepEqual(await listReasons(caller, id), ['freeStock must be at most 2147483647'])
  const [level] = await readData(caller, '/inventory')
  assert.deepEqual([level.freeStock, level.sellable], [-7, 0])
  assert.equal((await readData(caller, '/stores/001')).address.country, 'USA')
})

test('files with other line ends or separators are rejected with the cause', async () => {
  const caller = await api.createService()
  const importForDetail = async (file: string) => (await importAndWait(caller, 'stores', file)).detail
  assert.match(await importForDetail('storeId,storeNumber,name\r1,001,North\r2,002,South\r'), /line/)
  assert.match(await importForDetail('storeId;storeNumber;name\n1;001;North\n'), /--delimiter ";"/)
})

test('files around the batch size lose no line', async () => {
  const caller = await api.createService()
  for (const count of [1_999, 2_000, 2_001, 4_001]) {
    const lines = Array.from({ length: count }, (_, i) => `${count}-${i},Lee\n`)
    const { new: added } = await importAndWait(caller, 'customers', `id,surname\n${lines.join('')}`)
    assert.equal(added, count)
  }
})

test('long order numbers stay, and fractions are rounded once per line', async () => {
  const caller = await api.createService()
  await importAndWait(caller, 'customers', 'id,surname\nC1,Lee\n')
  const number = '123456789012345678901'
  const order = `orderNumber,customerId,placedAt,total,productName,quantity,price\n${number},C1,2024-05-10,1.00,Hat,1,1.00\n`
  assert.equal((await importAndWait(caller, 'orders', order)).new, 1)
  assert.equal((await readData(caller, `/orders?order_number=${number}`))[0].orderNumber, number)
  const sale = 'id,saleDate,lineId,quantity,price\nT1,2024-05-10,1,0.333,10.00\n'
  await importAndWait(caller, 'transactions', sale)
  assert.equal((await readData(caller, '/transactions/T1')).total, '3.33')
})
