import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { platformProfiles } from '../../src/import/formats/platform-profiles.ts'
import { importAndWait } from '../support/import-and-wait.ts'
import { checkout, runCommand } from '../support/processes.ts'
import { type Caller, startTestService, type TestService } from '../support/service.ts'
import { type ImportRun, importing } from './import-command.ts'

let api: TestService
let shop: Caller
let importFile: ReturnType<typeof importing>
before(async () => {
  api = await startTestService({ settings: { writesPerMinute: 'off', readsPerMinute: 'off' } })
  importFile = importing(api)
  shop = await api.createService({ currency: 'AUD' })
  for (const type of ['stores', 'products']) await importFile(shop, type, readExample(type))
})
after(() => api.stop())

const readExample = (name: string) => readFileSync(join(checkout, `examples/data/${name}.csv`), 'utf8')
/** Imports the example of a platform profile on the command line. */
const importExample = (name: keyof typeof platformProfiles, ...args: string[]): Promise<ImportRun> =>
  importFile(shop, platformProfiles[name].profile.type, readExample(name), { args: ['--profile', name, ...args] })
const findOrder = async (number: string) =>
  (await shop.get(`/orders?order_number=${encodeURIComponent(number)}`)).json.data[0]
/** The amounts of the lines of an order: value, and discounts with their reasons. */
const lineAmounts = (order: { lines: { sku: string; value: string; discounts: { amount: string }[] }[] }) =>
  order.lines.map(({ sku, value, discounts }) => [sku, value, ...discounts.map(({ amount }) => amount)])
// All times of the example have the offset +1000, and the service's time zone is UTC.
const dateFormat = ['--date-format', 'YYYY-MM-DD HH:MM:SS Z']

test('Shopify orders find customers by email and spread order discounts', async () => {
  const customers = await importExample('shopify-customers')
  assert.deepEqual([customers.code, customers.counts], [0, [3, 3, 0, 0, 0]], customers.out + customers.err)
  const { code, counts, out, err } = await importExample('shopify-orders', ...dateFormat)
  assert.deepEqual([code, counts], [0, [4, 4, 0, 0, 0]], out + err)
  assert.match(out, /^2 +no SKU: stored by its name$/m)
  const [first, second, third] = [await findOrder('#1001'), await findOrder('#1002'), await findOrder('#1003')]
  const [dana] = (await shop.get('/customers?email=dana.okafor@example.com')).json.data
  assert.deepEqual([first.customerId, third.customerId], [dana.id, dana.id])
  assert.deepEqual(lineAmounts(first), [
    ['TEE-WHT-S', '53.91', '5.99'],
    ['Gift Card - $50.00', '45.00', '5.00'],
  ])
  assert.deepEqual([first.total, first.taxLines, first.placedAt], ['108.86', [], '2026-05-10 23:55:16'])
  assert.deepEqual(lineAmounts(second), [['TEE-BLK-M', '24.95', '5.00']])
  assert.deepEqual([second.lines[0].status, first.lines[0].status], ['processing', 'shipped'])
  assert.deepEqual(lineAmounts(third), [['Alteration', '20.00']], 'a discount of 0.00 is left out')
})

test('WooCommerce orders have tax on top and one row per item', async () => {
  await importExample('shopify-customers')
  const { code, counts, out, err } = await importExample('woocommerce-orders')
  assert.deepEqual([code, counts], [0, [3, 3, 0, 0, 0]], out + err)
  const order = await findOrder('2041')
  assert.deepEqual(lineAmounts(order), [
    ['TEE-WHT-S', '27.44', '2.51'],
    ['JEANS-IND-30', '81.51', '7.49'],
  ])
  assert.deepEqual([order.taxLines[0].amount, order.payments[0].amount], ['11.70', '128.65'])
})

test('an order with an unknown email or too large a discount is rejected', async () => {
  const columns = 'orderNumber,customerEmail,placedAt,total,orderDiscount,productName,quantity,price'
  const { reasons } = await importFile(
    shop,
    'orders',
    `${columns}\nX1,nobody@example.com,2026-05-11,10,0,Shirt,1,10\nX2,dana.okafor@example.com,2026-05-11,0,11,Shirt,1,10\n`,
  )
  assert.deepEqual(reasons, [
    'customerEmail unknown customer: nobody@example.com',
    'orderDiscount must be at most the value of the lines: 10.00',
  ])
})

test('Shopify inventory and Square items are imported by their profiles', async () => {
  const inventory = await importExample('shopify-inventory')
  assert.deepEqual([inventory.code, inventory.counts], [0, [4, 4, 0, 0, 0]], inventory.out + inventory.err)
  const stock = (await shop.get('/inventory')).json.data.map(({ sku, storeNumber, freeStock }: never) => [
    ...[sku, storeNumber, freeStock],
  ])
  assert.deepEqual(stock.sort(), [
    ['TEE-BLK-M', '002', 3],
    ['TEE-BLK-S', '001', 0],
    ['TEE-WHT-M', '001', -1],
    ['TEE-WHT-S', '001', 4],
  ])
  const items = await importExample('square-items')
  assert.deepEqual([items.code, items.counts], [0, [3, 3, 0, 0, 0]], items.out + items.err)
  const candle = (await shop.get('/products/Soy%20Candle')).json.data
  assert.deepEqual(
    candle.colours[0].sizes.map(({ skuId, price }: Record<string, string>) => [skuId, price]),
    [
      ['TKN4QX2', '1018.00'],
      ['TKN4QX1', '12.00'],
    ].sort(),
  )
})

test('the API accepts a platform profile by its name', async () => {
  const { state, read, rejected } = await importAndWait(
    shop,
    'stock?profile=shopify-inventory',
    readExample('shopify-inventory'),
  )
  assert.deepEqual([state, read, rejected], ['ok', 4, 0])
  const { status, json } = await shop.request('/imports?type=stores&profile=shopify-inventory', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: 'x\n1\n',
  })
  assert.equal(status, 400)
  assert.match(JSON.stringify(json), /shopify-inventory is a profile for stock, not for stores/)
})

test('the help and the documentation list every platform profile', async () => {
  const { out } = await runCommand(['import', '--help'], {})
  const page = readFileSync(join(checkout, 'docs/connect/import-files.md'), 'utf8')
  for (const [name, { profile }] of Object.entries(platformProfiles)) {
    assert.match(out, new RegExp(`^ *${name} \\(${profile.type}\\)$`, 'm'))
    assert.match(page, new RegExp(`^\\| \`${name}\` \\| \`${profile.type}\` \\|`, 'm'))
  }
})
