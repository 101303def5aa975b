import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { renderExampleFile } from '../../src/import/formats/document.ts'
import { importTypes } from '../../src/import/pipeline/import-types.ts'
import { upsertTransactions } from '../../src/store/orders/transactions.ts'
import { openImportShop, type Shop } from '../support/import-shop.ts'

let shop: Shop
before(async () => {
  shop = await openImportShop()
  for (const kind of ['stores', 'products'] as const)
    await shop.importFile(kind, renderExampleFile(importTypes[kind]).replaceAll('AUD', 'GBP'))
})
after(() => shop.close())

const loadTransaction = async (id: string) => {
  const [row] = await shop.queryRows(`select record from retail_transaction where id = '${id}'`)
  return JSON.parse(row.record)
}
const header = 'id,saleDate,lineId,quantity,price'

test('lines that differ only in lineId are all kept', async () => {
  const lines = ['a', 'b', 'c'].map(line => `same,2024-05-01,${line},1,2.50\n`)
  const { inserted } = await shop.importFile('transactions', `${header}\n${lines.join('')}`)
  const { lines: storedLines, total } = await loadTransaction('same')
  assert.deepEqual([inserted, storedLines.length, total], [3, 3, '7.50'])
})

test("a transaction's lines can be scattered over files", async () => {
  const otherLines = Array.from({ length: 2500 }, (_, i) => `o${i},2024-05-01,1,1,1\n`).join('')
  const file = `${header}\nfar,2024-05-01,1,1,1.00\n${otherLines}far,2024-05-01,2,1,2.00\n`
  await shop.importFile('transactions', file)
  await shop.importFile('transactions', `${header}\nfar,2024-05-01,3,1,4.00\n`)
  const { lines, total } = await loadTransaction('far')
  assert.deepEqual([lines.map((line: { id: string }) => line.id), total], [['1', '2', '3'], '7.00'])
  const original = await shop.dumpTables()
  const again = await shop.importFile('transactions', file)
  assert.deepEqual([again.unchanged, again.changed, await shop.dumpTables()], [2502, 0, original])
})

test('file columns can use the names of exports', async () => {
  await shop.importFile('transactions', `${header}\nxmas,2024-12-24,1,1,1.00\n`)
  const { inserted } = await shop.importFile('transactions', `${header}\nxmas,2024-12-24,x2,1,2.00\n`)
  assert.deepEqual([inserted, (await loadTransaction('xmas')).total], [1, '3.00'])
})

test('contradictory lines of a transaction change nothing on repetition', async () => {
  const lines = Array.from({ length: 1200 }, (_, i) => `torn,2024-05-01 10:0${i % 2},${i},1,1\n`)
  const file = `${header}\n${lines.join('')}`
  await shop.importFile('transactions', file)
  const original = await shop.dumpTables()
  const { changed, unchanged } = await shop.importFile('transactions', file)
  assert.deepEqual([changed, unchanged, await shop.dumpTables()], [0, 1200, original])
})

test("lines that contradict their transaction's first line are reported", async () => {
  const lines = [
    'r1,1,2024-01-01 10:00:00,123,A,1,10.00',
    'r1,2,2024-01-01 10:00:00,123,A,1,20.00',
    'r2,1,2024-01-01 10:00:00,123,A,1,20.00',
    'r1,3,2024-02-02 10:00:00,008,B,1,5.00',
    'r1,4,2024-02-02 10:00:00,008,B,1,5.00',
  ]
  const file = `id,lineId,saleDate,storeNumber,customerId,quantity,price\n${lines.join('\n')}\n`
  const note =
    'the sale date, store or customer differs from the first line of the transaction, and the later line applies: check that `id` is unique for each sale'
  for (const dryRun of [true, false]) {
    const { rejected, notes } = await shop.importFile('transactions', file, { dryRun })
    assert.deepEqual([rejected, notes[note]], [0, 2])
  }
  assert.equal((await loadTransaction('r1')).customerId, 'B')
})

test('a missing SKU becomes null with a remark; skuId overrides sku', async () => {
  const lines = ['1,gone,', '2,gone,12001', '3,MH01-S-Black,', '4,,', '5,MH01-S-Black,404']
  const file = `id,saleDate,quantity,price,lineId,sku,skuId\n${lines.map(line => `sku,2024-05-01,1,1,${line}\n`).join('')}`
  const { rejected, notes } = await shop.importFile('transactions', file)
  assert.deepEqual([rejected, notes], [0, { 'unknown SKU: stored as null': 2 }])
  const skus = (await loadTransaction('sku')).lines.map((line: { sku: string }) => line.sku)
  assert.deepEqual(skus, [null, 'MH01-XS-Black', 'MH01-S-Black', null, null])
})

test("a transaction keeps its store's name at import time", async () => {
  const file = `${header},storeNumber\nst,2024-05-01,1,1,1,008\nun,2024-05-01,1,1,1,404\n`
  const { notes } = await shop.importFile('transactions', file)
  assert.deepEqual(notes, { 'unknown store number: stored without a name': 1 })
  await shop.importFile('stores', 'storeId,storeNumber,name\n1002,008,Renamed\n')
  assert.equal((await shop.importFile('transactions', file)).changed, 0)
  const stores = [await loadTransaction('st'), await loadTransaction('un')].map(sale => [
    sale.storeNumber,
    sale.storeName,
  ])
  assert.deepEqual(stores, [
    ['008', 'Bourke Street'],
    ['404', null],
  ])
})

test('a missing value is calculated from price, quantity and discount', async () => {
  const loadValue = async () => (await loadTransaction('val')).lines[0].value
  await shop.importFile('transactions', `${header},discountAmount\nval,2024-05-01,1,2,10,1.50\n`)
  assert.equal(await loadValue(), '18.50')
  await shop.importFile('transactions', `${header}\nval,2024-05-01,1,-3,10\n`)
  assert.equal(await loadValue(), '-28.50')
  await shop.importFile('transactions', `${header},value\nval,2024-05-01,1,-3,10,-7\n`)
  assert.equal(await loadValue(), '-7.00')
  await shop.importFile('transactions', `${header},productName\nval,2024-05-01,1,-3,10,Pot\n`)
  assert.equal(await loadValue(), '-7.00')
  await shop.importFile('transactions', `${header},value,discountAmount\nval,2024-05-01,1,-3,10,,\n`)
  assert.equal(await loadValue(), '-30.00')
})

test('a value with another sign than its quantity is rejected', async () => {
  const columns = 'id,lineId,saleDate,quantity,price,value'
  const lines = ['V1,1,2024-05-26,1,5.00,-5.00', 'V1,2,2024-05-26,-1,5.00,5.00', 'V1,3,2024-05-26,-1,5.00,-5.00']
  const { read, rejected, rejectedFile } = await shop.importFile('transactions', `${columns}\n${lines.join('\n')}\n`)
  assert.deepEqual([read, rejected], [3, 2])
  assert.match(rejectedFile ?? '', /2,value,must have the sign of quantity times price,.*\n3,value,must have the sign/)
})

test('a line whose value cannot be stored is rejected', async () => {
  const { rejectedFile } = await shop.importFile('transactions', `${header}\nbig,2024-05-01,1,2000000000,999999.99\n`)
  assert.match(rejectedFile ?? '', /^2,price,"times the quantity must be less than 1,000,000,000,000",/m)
})

test("a line follows its sale's currency or is rejected individually", async () => {
  const yen = {
    header: { id: 'yen', currency: 'JPY', saleDate: '2024-05-01 00:00:00' },
    line: { id: '1', quantity: 1 },
  }
  await upsertTransactions(shop.db, shop.service, [{ ...yen, line: { ...yen.line, price: '900', value: '900' } }])
  const lines = 'yen,2024-05-01,2,1,100,100.00\nyen,2024-05-01,3,1,10.50,10.50\npound,2024-05-01,1,1,10.50,10.50\n'
  const { inserted, rejectedFile } = await shop.importFile('transactions', `${header},value\n${lines}`)
  assert.equal(inserted, 2)
  assert.match(
    rejectedFile ?? '',
    /^3,,Amounts must have at most the decimals of the currency of the transaction.,yen,/m,
  )
  const { lines: storedLines, total, currency } = await loadTransaction('yen')
  assert.deepEqual(
    [storedLines.map(({ value }: { value: string }) => value), total, currency],
    [['900', '100'], '1000', 'JPY'],
  )
})

test('an interrupted import resumes with its unfinished multi-row record', async () => {
  const lines = Array.from({ length: 5_500 }, (_, i) => ({ id: String(i), quantity: 1, price: '1.00' }))
  const record = { id: 'LONG', saleDate: '2024-05-26 10:00:00', currency: 'GBP', lines }
  const records = `{"id":"WRONG"}\n${JSON.stringify(record)}\n`
  const file = 'long.ndjson'
  const stopped = await shop.importFile('transactions', records, { file, stopAfter: 1 })
  assert.deepEqual([stopped.read, stopped.stoppedAfter], [5_000, 2])
  await shop.importFile('transactions', records, { file, resume: true })
  const [row] = await shop.queryRows(`select record from retail_transaction where id = 'LONG'`)
  assert.equal(JSON.parse(row.record).lines.length, 5_500)
})

test('an empty cell clears the tracking and the tax of a sale', async () => {
  const columns = `${header},carrier,trackingNumber,trackingUrl,tax`
  await shop.importFile(
    'transactions',
    `${columns}\nT1,2024-05-26,1,1,10,Post,33ABC,https://track.example.com/33ABC,0.80\n`,
  )
  const sale = await loadTransaction('T1')
  assert.deepEqual(
    [sale.carrier, sale.trackingNumber, sale.trackingUrl],
    ['Post', '33ABC', 'https://track.example.com/33ABC'],
  )
  assert.deepEqual(sale.taxLines, [{ name: 'Tax', percentage: null, amount: '0.80' }])
  await shop.importFile('transactions', `${columns}\nT1,2024-05-26,1,1,10,Post,,,\n`)
  const cleared = await loadTransaction('T1')
  assert.equal(cleared.carrier, 'Post')
  for (const name of ['trackingNumber', 'trackingUrl', 'taxLines']) assert.equal(name in cleared, false, name)
})
