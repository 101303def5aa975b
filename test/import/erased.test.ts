import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { eraseRemainingData } from '../../src/store/privacy/erase-batch.ts'
import { erase } from '../../src/store/privacy/erasure.ts'
import { openImportShop, type Shop } from '../support/import-shop.ts'

const keys = deriveKeys(randomBytes(32))
let shop: Shop
before(async () => {
  shop = await openImportShop()
})
after(() => shop.close())

const customers = 'id,firstname,email\n1,John,john@example.com\n2,Jane,jane@example.com\n'
const buildSaleFile = (id: string, customerId: string) =>
  `id,saleDate,lineId,quantity,price,customerId\n${id},2024-05-01,1,1,2.50,${customerId}\n`
const eraseCustomer = (id: string) => shop.db.transaction(tx => erase(tx, shop.service, id, () => {}))

test('a file cannot restore an erased customer or attach records', async () => {
  await shop.importFile('customers', customers)
  await shop.importFile('transactions', buildSaleFile('early', '1'))
  await eraseCustomer('1')
  await eraseRemainingData(shop.db, keys, shop.service, '1')

  const again = await shop.importFile('customers', customers)
  assert.deepEqual([again.rejected, again.unchanged], [1, 1])
  assert.match(again.rejectedFile ?? '', /2,id,was erased: 1,/)
  await shop.importFile('transactions', buildSaleFile('late', '1'))
  await shop.importFile('transactions', buildSaleFile('early', '1'))
  const mapped = await shop.importFile('customer-mapping', 'customerId,ecommerceLegacyId\n1,6477890125896\n')
  assert.equal(mapped.rejected, 1)

  assert.deepEqual(await shop.queryRows('select id from customer'), [{ id: '2' }])
  const sales = await shop.queryRows('select id, customer_id, record from retail_transaction order by id')
  assert.deepEqual(
    sales.map(({ id, customer_id, record }) => [id, customer_id, JSON.parse(record).customerId]),
    [
      ['early', null, null],
      ['late', null, null],
    ],
  )
})

test('concurrent imports cannot restore an erased customer', async () => {
  for (let id = 100; id < 110; id++) {
    await shop.importFile('customers', `id,firstname\n${id},Canary\n`)
    await Promise.all([
      shop.importFile('customers', `id,surname\n${id},Canary\n`, { file: 'customers-again.csv' }),
      shop.importFile('transactions', buildSaleFile(`t${id}`, String(id))),
      eraseCustomer(String(id)),
    ])
    await eraseRemainingData(shop.db, keys, shop.service, String(id))
    const remainingRows = `select id from customer where id = '${id}' union all select id from retail_transaction where customer_id = '${id}'`
    assert.deepEqual(await shop.queryRows(remainingRows), [])
  }
})
