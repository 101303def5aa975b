import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { upsertProducts } from '../../../src/store/catalog/products.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { upsertTransactions } from '../../../src/store/orders/transactions.ts'
import { fillShop, placeOrder } from '../../support/order-shop.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
let other: Caller

before(async () => {
  api = await startTestApi()
  other = await api.createService()
  for (const { service } of [api, other]) await fillShop(api.db, service)
  await upsertCustomers(api.db, api.service, [
    {
      id: '70001',
      firstname: 'Zoë',
      surname: "O'Brien",
      email: 'zoe.obrien+news@currawick.example',
      phoneMobile: '0400 123 456',
      phoneHome: '+61 3 9876 5432',
      city: 'Carlton',
    },
  ])
  await upsertProducts(api.db, api.service, [
    {
      product: { productId: 'p-1', productCode: 'TOPAZ', name: 'Topaz Bootcut Jean' },
      colour: { productId: 'p-1', colourId: 'BLU', code: 'BLU', name: 'Blue' },
      variant: {
        skuId: 's-1',
        productId: 'p-1',
        colourId: 'BLU',
        sku: 'TOPAZ-BLU-8',
        sizeCode: '8',
        price: '99.00',
        barcode: '9300601234567',
      },
    },
  ])
})
after(() => api?.stop())

const find = async (text: string, caller: Pick<Caller, 'get'> = api) => {
  const response = await caller.get(`/search?q=${encodeURIComponent(text)}`)
  assert.equal(response.status, 200, response.text)
  return response.json.data as { type: string; id: string; title: string; matchedField: string; matchedText: string }[]
}
const list = async (text: string, caller?: Caller) =>
  (await find(text, caller)).map(({ type, id, matchedField }) => `${type} ${id} ${matchedField}`)

test('customers are found by name in any order, without accents', async () => {
  for (const text of ['zoe', 'Zoë', 'brien', "o'brien z", 'ZOE OBR'])
    assert.deepEqual(await list(text), text === 'ZOE OBR' ? ['customer 70001 email'] : ['customer 70001 name'], text)
  assert.deepEqual(await list('smith'), ['customer 65433 name', 'customer 65432 name'])
  assert.deepEqual(await list('zoe smith'), [])
})

test('customers are found by parts of their email address', async () => {
  for (const text of ['currawick', 'zoe.obrien+news@currawick.example', 'obrien+news', 'news@currawick'])
    assert.deepEqual(await list(text), ['customer 70001 email'], text)
  const [customer] = await find('currawick')
  assert.equal(customer?.matchedText, 'zoe.obrien+news@currawick.example')
})

test('customers are found by phone number in national and international form', async () => {
  for (const text of [
    '0400123456',
    '0400 123 456',
    '+61 400 123 456',
    '0061400123456',
    '123456',
    '03 9876 5432',
    '+61398765432',
  ])
    assert.deepEqual(await list(text), ['customer 70001 phone'], text)
  assert.equal((await find('+61 400 123 456'))[0]?.matchedText, '0400 123 456')
  assert.deepEqual(await list('456'), [])
})

test('products are found by name or code, SKUs by barcode', async () => {
  assert.deepEqual(await list('bootcut'), ['product p-1 name'])
  assert.deepEqual(await list('topaz jea'), ['product p-1 name'])
  assert.deepEqual(await list('topaz'), ['product p-1 number', 'sku TOPAZ-BLU-8 sku'])
  assert.deepEqual(await list('9300601234567'), ['sku TOPAZ-BLU-8 barcode'])
  assert.deepEqual((await list('85049a')).slice(-2), ['sku 85049A sku', 'sku 85049a sku'])
})

test('orders, returns, receipts and vouchers are found by their numbers', async () => {
  const order = await placeOrder(api, [{ sku: 'HOOD-S', quantity: 2, price: '29.99' }], { orderNumber: 'W-1001' })
  await upsertTransactions(api.db, api.service, [
    {
      header: { id: '900', number: 'R006000733', saleDate: '2026-11-20 10:00:00', orderNumber: 'W-77' },
      line: { id: '1', quantity: 1, price: '29.99', value: '29.99' },
    },
  ])
  for (const text of ['w-10', 'W-10']) assert.deepEqual(await list(text), [`order ${order.id} number`])
  assert.deepEqual(await list(order.id), [`order ${order.id} id`])
  assert.deepEqual(await list('r006000733'), ['sale 900 number'])
  assert.deepEqual(await list('W-77'), ['sale 900 orderNumber'])
  assert.equal((await find('900'))[0]?.title, 'R006000733')
  await api.db.run(sql`
    insert into voucher (service_id, number, state, currency, original_amount, balance)
    values (${api.service.id}, '9140690870504594', 'active', 'AUD', 75, 75)`)
  assert.deepEqual(await list('9140 6908 7050 4594'), ['voucher 9140690870504594 number'])
  assert.deepEqual(await list('9140690870504594', await api.createAccount('maintainer')), [])
})

test('a search never returns records of another service', async () => {
  for (const text of ['zoe', '0400123456', 'topaz', 'W-1001', '9300601234567', '900'])
    assert.deepEqual(await list(text, other), [], text)
})

test('a text without words finds nothing, and a search needs a text', async () => {
  assert.deepEqual(await find('--'), [])
  assert.deepEqual(await find("'\\ :* & |"), [])
  assert.equal((await api.get('/search')).status, 400)
})
