import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { platformProfiles } from '../../src/import/formats/platform-profiles.ts'
import { importAndWait } from '../support/import-and-wait.ts'
import { checkout, runCommand } from '../support/processes.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { post } from '../support/write.ts'
import { createImporter, type ImportRun } from './import-command.ts'

let api: TestApi
let shop: Caller
let importFile: ReturnType<typeof createImporter>
before(async () => {
  api = await startTestApi({ settings: { writesPerMinute: 'off', readsPerMinute: 'off' } })
  importFile = createImporter(api)
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
/** Lists the SKU, the value and the discount amounts of each order line. */
const listLineAmounts = (order: { lines: { sku: string; value: string; discounts: { amount: string }[] }[] }) =>
  order.lines.map(({ sku, value, discounts }) => [sku, value, ...discounts.map(({ amount }) => amount)])
// All times in the example have the offset +1000. The service's time zone is UTC.
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
  assert.deepEqual(listLineAmounts(first), [
    ['TEE-WHT-S', '53.91', '5.99'],
    ['Gift Card - $50.00', '45.00', '5.00'],
  ])
  assert.deepEqual([first.total, first.taxLines, first.placedAt], ['108.86', [], '2026-05-10 23:55:16'])
  assert.deepEqual(listLineAmounts(second), [['TEE-BLK-M', '24.95', '5.00']])
  assert.deepEqual([second.lines[0].status, first.lines[0].status], ['processing', 'shipped'])
  assert.deepEqual(listLineAmounts(third), [['Alteration', '20.00']], 'a discount of 0.00 is left out')
})

test('WooCommerce orders have tax on top and one row per item', async () => {
  await importExample('shopify-customers')
  const { code, counts, out, err } = await importExample('woocommerce-orders')
  assert.deepEqual([code, counts], [0, [3, 3, 0, 0, 0]], out + err)
  const order = await findOrder('2041')
  assert.deepEqual(listLineAmounts(order), [
    ['TEE-WHT-S', '27.44', '2.51'],
    ['JEANS-IND-30', '81.51', '7.49'],
  ])
  assert.deepEqual([order.taxLines[0].amount, order.payments[0].amount], ['11.70', '128.65'])
})

test('an order with an unknown email or excessive discount is rejected', async () => {
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

test('Shopify products have colours and sizes from their options', async () => {
  const importExampleText = () =>
    importAndWait(shop, 'products?profile=shopify-products', readExample('shopify-products'))
  const first = await importExampleText()
  assert.deepEqual([first.new, first.skipped, first.rejected], [4, 1, 0], JSON.stringify(first))
  assert.match(JSON.stringify(first.notes), /line without a price, such as a further image: skipped/)
  const { name, description, colours } = (await shop.get('/products/river-shirt')).json.data
  assert.deepEqual([name, description], ['River Shirt', '<p>Washed linen,\nregular fit.</p>'])
  assert.deepEqual(
    colours.flatMap((colour: { name: string; sizes: Record<string, string>[] }) =>
      colour.sizes.map(size => [
        colour.name,
        ...[size.sizeCode, size.skuId, size.originalPrice, size.price, size.barcode],
      ]),
    ),
    [
      ['Sand', 'M', 'RIV-SND-M', '89.00', '89.00', '9300000000222'],
      ['Sky', 'M', 'RIV-SKY-M', '89.00', '69.00', '9300000000208'],
      ['Sky', 'L', 'RIV-SKY-L', '89.00', '69.00', '9300000000215'],
    ],
  )
  const { sizes } = (await shop.get('/products/pocket-map')).json.data.colours[0]
  assert.deepEqual([sizes[0].sizeCode, sizes[0].skuId], ['-', 'pocket-map'], 'a product without options and SKU')
  assert.equal((await importExampleText()).unchanged, 4)
})

test('Shopify gift cards become vouchers with the PINs that were added', async () => {
  const example = readExample('shopify-gift-cards')
  const { read, rejected, path } = await importAndWait(shop, 'vouchers?profile=shopify-gift-cards', example)
  assert.deepEqual([read, rejected], [4, 0], JSON.stringify((await shop.get(`${path}/rejected`)).json))
  const lookUp = async (number: string, pin: string) => (await post(shop, '/vouchers/lookup', { number, pin })).json
  const { data } = await lookUp('560100000002', '771205')
  assert.deepEqual([data.availableAmount, data.originalAmount, data.expiryDate], ['37.40', '100.00', null])
  assert.equal((await lookUp('560100000003', '118834')).data.status, 'suspended')
  assert.equal((await lookUp('560100000004', '650277')).data.status, 'redeemed')
  const withoutPins = example.replaceAll(/,[^,\n]*$/gm, '')
  const failed = await importAndWait(shop, 'vouchers?profile=shopify-gift-cards', withoutPins)
  assert.match(failed.detail, /Column PIN, which --map names for pin, is missing/)
})

test('Lightspeed sales have items without the lines of totals and payments', async () => {
  const importExampleText = (text = readExample('lightspeed-sales')) =>
    importAndWait(shop, 'transactions?profile=lightspeed-sales', text)
  const first = await importExampleText()
  assert.deepEqual([first.new, first.skipped, first.rejected], [3, 6, 0], JSON.stringify(first))
  const sale = (await shop.get('/transactions/CS-4501')).json.data
  assert.deepEqual(
    sale.lines.map((line: Record<string, unknown>) => [
      line.sku,
      line.productName,
      line.quantity,
      line.price,
      line.value,
    ]),
    [
      ['TEE-WHT-S', 'Everyday Tee / White / S', 2, '29.95', '53.90'],
      [null, 'Alteration', 1, '30.00', '30.00'],
    ],
  )
  assert.deepEqual(
    [sale.total, sale.customerId, sale.channel, sale.saleDate],
    ['83.90', null, 'store', '2026-05-14 10:02:11'],
  )
  const returned = (await shop.get('/transactions/CS-4502')).json.data
  assert.deepEqual([returned.total, returned.lines[0].quantity, returned.customerId], ['-29.95', -1, '1001'])
  assert.equal((await shop.get('/transactions/CS-4503')).status, 404, 'a voided sale')
  assert.equal((await importExampleText()).unchanged, 9 - 6)
  const wrong = await importExampleText(readExample('lightspeed-sales').replace('0.00,83.90,83.90', '0.00,84.90,84.90'))
  const reasons = (await shop.get(`${wrong.path}/rejected`)).json.data
  assert.deepEqual([wrong.rejected, reasons[0].column, reasons[0].reason], [2, 'total', 'must be the sum of the lines'])
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

test('cancelled, refunded and unpaid Shopify orders keep their state', async () => {
  await importExample('shopify-customers')
  const columns =
    'Name,Email,Financial Status,Currency,Total,Created at,Cancelled at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem fulfillment status,Payment Method,Refunded Amount'
  const orders = [
    ['#2001', 'voided', 'AUD', '30.00', '2026-05-12 09:55:16 +1000', 'pending', '0.00'],
    ['#2002', 'refunded', 'AUD', '30.00', '', 'fulfilled', '30.00'],
    ['#2003', 'partially_refunded', 'AUD', '30.00', '', 'fulfilled', '14.00'],
    ['#2004', 'pending', 'AUD', '30.00', '', 'pending', '0.00'],
    ['#2005', 'paid', 'USD', '30.00', '', 'fulfilled', '0.00'],
  ].map(
    ([name, financial, currency, total, cancelledAt, status, refunded]) =>
      `${name},dana.okafor@example.com,${financial},${currency},${total},2026-05-11 09:55:16 +1000,${cancelledAt},1,Mug,10.00,${status},Cash,${refunded}\n` +
      `${name},dana.okafor@example.com,,,,2026-05-11 09:55:16 +1000,,2,Pot,10.00,${status},,\n`,
  )
  const args = ['--profile', 'shopify-orders', ...dateFormat]
  const { reasons, out, err } = await importFile(shop, 'orders', `${columns}\n${orders.join('')}`, { args })
  assert.match(reasons.join(), /^Currency must be AUD, the currency of the service/, out + err)
  const states = await Promise.all(
    ['#2001', '#2002', '#2003', '#2004'].map(async number => {
      const { lines, payments } = await findOrder(number)
      return [payments.length, ...lines.map(({ status }: { status: string }) => status)]
    }),
  )
  assert.deepEqual(states, [
    [1, 'cancelled', 'cancelled'],
    [1, 'returned', 'returned'],
    [1, 'shipped', 'shipped'],
    [0, 'processing', 'processing'],
  ])
  assert.equal((await findOrder('#2005')) ?? null, null)
  const { rows } = await api.db.pool.query(
    `select refunded from order_line join sales_order o on o.service_id = order_line.service_id and o.id = order_id
      where order_number = '#2003' order by sequence`,
  )
  assert.deepEqual(
    rows.map(row => Number(row.refunded)),
    [10, 4],
  )
})

test('amounts of another currency are rejected in every import type', async () => {
  const files = {
    products: 'productId,productCode,name,colourId,skuId,sizeCode,price,currency\nX,X,X,X,X,-,1.00,USD\n',
    transactions: 'id,lineId,saleDate,quantity,price,currency\nX,1,2026-05-11,1,1.00,USD\n',
    vouchers: 'number,pin,balance,currency\nX,1,1.00,USD\n',
  }
  for (const [type, file] of Object.entries(files)) {
    const { reasons } = await importFile(shop, type, file)
    assert.match(reasons.join(), /^currency must be AUD, the currency of the service/, type)
    const ownCurrency = await importFile(shop, type, file.replace('USD', 'aud'))
    assert.deepEqual([ownCurrency.code, ownCurrency.counts[1]], [0, 1], ownCurrency.out + ownCurrency.err)
  }
})
