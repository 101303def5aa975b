import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { upsertTransactions } from '../../src/store/orders/transactions.ts'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { createReturn, fillShop, getCreatedRecord, placeOrder } from '../support/order-shop.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { issueVoucher, stockGiftCards, voucherSettings } from '../support/voucher-shop.ts'
import { post } from '../support/write.ts'

// Tests the pages of single records and their actions.

const skip = browserMissing ?? false
let api: TestApi
let page: Console

before(async () => {
  if (skip) return
  api = await startTestApi({ settings: { ...voucherSettings, fulfilment: 'manual' } })
  await stockGiftCards(api, api)
  await fillShop(api.db, api.service)
  page = await openConsole(api, api)
})
after(async () => {
  await page?.close()
  await api?.stop()
})

const readFigure = (title: string) =>
  page.evaluate<string>(
    `[...document.querySelectorAll('.figures > div')].find(element => element.querySelector('dt').innerText === ${JSON.stringify(title)})?.querySelector('dd').innerText`,
  )
const isClosed = `!document.querySelector('dialog')`
const isLoaded = `document.querySelector('.data') && !document.querySelector('[aria-busy="true"]')`
const status = `document.querySelector('.record-head .state')?.innerText`
const readData = async (path: string) => (await api.get(path)).json.data

/** Loses the response of the next request. */
const loseResponse = () =>
  page.evaluate(`(() => {
    const realFetch = fetch
    globalThis.fetch = async (...request) => {
      globalThis.fetch = realFetch
      await realFetch(...request)
      throw new TypeError('The response was lost.')
    }
  })()`)

/** Ships one unit of an order in the form, and loses the response. */
async function shipWithLostResponse({ id }: { id: string }) {
  await page.show(`search/order/${id}`)
  await page.press('Ship')
  await page.fill('Units of HOOD-S', '1')
  await loseResponse()
  await page.press('Ship')
  await page.waitForText("Can't reach Tillbridge.")
}

test('an order is shipped in parts, with errors at their fields', { skip }, async () => {
  const order = await placeOrder(api, [
    { sku: 'HOOD-S', quantity: 3 },
    { sku: 'TEE', quantity: 1 },
  ])
  await page.show(`search/order/${order.id}`)
  await page.waitUntil(`document.querySelector('.record-head')`)
  assert.deepEqual([await readFigure('Units'), await readFigure('Open')], ['4', '4'])
  await page.press('Ship')
  await page.fill('Units of HOOD-S', '2')
  await page.fill('Units of TEE', '0')
  await page.fill('Carrier', 'Australia Post')
  await page.fill('Tracking link', 'nowhere')
  await assertAccessible(page, 'shipping an order')
  await page.press('Ship')
  await page.waitUntil(
    `document.querySelector('input[aria-invalid="true"]')?.closest('label').innerText.includes('must be a web address')`,
  )
  await assertAccessible(page, 'a rejected shipment')
  assert.deepEqual(await readData(`/orders/${order.id}/shipments`), [])
  await page.fill('Tracking link', 'https://track.example.com/1')
  await page.press('Ship')
  await page.waitUntil(isClosed)
  await page.waitForText('The shipment was recorded.')
  await page.waitUntil(`[...document.querySelectorAll('.figures dd')].map(element => element.innerText).includes('2')`)
  await page.waitForText('Shipped 2 × HOOD-S Australia Post')
  assert.deepEqual([await readFigure('Shipped'), await readFigure('Open')], ['2', '2'])
  assert.equal((await readData(`/orders/${order.id}/shipments`)).length, 1)
  await assertAccessible(page, 'a shipped order')
})

test('a repeated shipment after a lost response ships once', { skip }, async () => {
  const order = await placeOrder(api, [{ sku: 'HOOD-S', quantity: 2 }])
  await shipWithLostResponse(order)
  await page.press('Ship')
  await page.waitUntil(isClosed)
  assert.equal((await readData(`/orders/${order.id}/shipments`)).length, 1)
  await page.waitUntil(`${status} === 'processing'`)
})

test('a changed shipment after a lost response is another shipment', { skip }, async () => {
  const order = await placeOrder(api, [{ sku: 'HOOD-S', quantity: 3 }])
  await shipWithLostResponse(order)
  await page.fill('Units of HOOD-S', '2')
  await page.press('Ship')
  await page.waitUntil(isClosed)
  assert.equal((await readData(`/orders/${order.id}/shipments`)).length, 2)
})

test('an error of a line stays at its field', { skip }, async () => {
  const order = await placeOrder(api, [
    { sku: 'HOOD-S', quantity: 1 },
    { sku: 'UNKEPT', quantity: 1 },
  ])
  await page.show(`search/order/${order.id}`)
  await page.press('Ship')
  await page.fill('Units of HOOD-S', '0')
  const [, unkept] = order.lines
  const shipment = { lines: [{ orderLineId: unkept.id, quantity: 1 }] }
  assert.equal((await post(api, `/orders/${order.id}/shipments`, shipment)).status, 201)
  await page.press('Ship')
  const invalid = `[...document.querySelectorAll('[aria-invalid="true"]')].map(element => element.closest('label').innerText.split('\\n')[0]).join()`
  await page.waitUntil(`${invalid} === 'Units of UNKEPT'`)
  await page.waitForText('Nothing was changed. Correct the marked fields.')
  await page.fill('Units of HOOD-S', '1')
  assert.equal(await page.evaluate(invalid), 'Units of UNKEPT')
  await page.press('Cancel')
  await page.waitUntil(isClosed)
})

test('open units are cancelled after a confirmation', { skip }, async () => {
  const order = await placeOrder(api, [{ sku: 'HOOD-S', quantity: 2 }])
  await page.show(`search/order/${order.id}`)
  await page.press('Cancel units')
  await page.waitForText("This can't be undone.")
  await page.press('Cancel')
  await page.waitUntil(isClosed)
  assert.equal((await readData(`/orders/${order.id}`)).lines[0].cancelled, 0)
  await page.press('Cancel units')
  await page.press('Cancel units')
  await page.waitUntil(`${status} === 'cancelled'`)
  await page.waitForText('pay back AUD 59.98 through the payment gateway')
  await page.waitForText(`Cancelled by ${api.username} 2 × HOOD-S. Refund: AUD 59.98 through the payment gateway`)
  // The button has disappeared, so its card has the focus.
  await page.waitUntil(`document.activeElement.classList.contains('card')`)
})

test('a cancellation without a refund has no minus sign', { skip }, async () => {
  const discounts = [{ type: 'gift', amount: '10.00' }]
  const order = await placeOrder(api, [{ sku: 'TEE', quantity: 1, discounts }], { payments: [] })
  assert.equal((await post(api, `/orders/${order.id}/cancel`, {})).status, 200)
  await page.show(`search/order/${order.id}`)
  await page.waitForText('Refund: AUD 0.00')
  assert.doesNotMatch(await page.evaluate<string>(`document.querySelector('.timeline').innerText`), /−/)
})

test('a collected order is ready first', { skip }, async () => {
  const order = await placeOrder(api, [{ sku: 'HOOD-S', quantity: 1 }], { pickupStoreNumber: '101' })
  await page.show(`search/order/${order.id}`)
  await page.press('Ready for collection')
  await page.press('Ready for collection')
  await page.press('Collected')
  await page.press('Collected')
  await page.waitUntil(`${status} === 'shipped'`)
  assert.ok((await readData(`/orders/${order.id}`)).collectedAt)
})

test('a return is created, received in parts and refunded', { skip }, async () => {
  const order = await placeOrder(api, [{ sku: 'HOOD-M', quantity: 3 }])
  assert.equal((await post(api, `/orders/${order.id}/shipments`, {})).status, 201)
  await page.show(`search/order/${order.id}`)
  await page.press('Create return')
  await page.fill('Units of HOOD-M', '2')
  await page.waitUntil(`document.querySelector('dialog select').options.length > 1`)
  await page.fill('Reason', 'SIZE')
  await page.fill('Notes', 'Too wide')
  await assertAccessible(page, 'creating a return')
  await page.press('Create return')
  await page.waitUntil(isClosed)
  const [{ id, returnNumber }] = await readData(`/orders/${order.id}/returns`)
  await page.press(returnNumber)
  await page.waitUntil(`${status} === 'requested'`)
  await assertAccessible(page, 'a requested return')
  await page.press('Receive')
  await page.fill('Units of HOOD-M', '1')
  await page.press('Receive')
  await page.waitForText('Others are still to arrive.')
  await page.waitUntil(`[...document.querySelectorAll('.figures dd')].at(-1).innerText === '1'`)
  await page.press('Receive')
  await page.press('Receive')
  await page.waitUntil(`${status} === 'received'`)
  await page.press('Refund')
  await page.press('Refund')
  await page.waitUntil(`${status} === 'refunded'`)
  await page.waitForText('pay back AUD 66.66 through the payment gateway')
  assert.equal((await readData(`/returns/${id}`)).status, 'refunded')
})

test('a visitor sees the records without their actions', { skip }, async () => {
  const order = await placeOrder(api, [{ sku: 'HOOD-S', quantity: 2 }])
  assert.equal(
    (await post(api, `/orders/${order.id}/shipments`, { lines: [{ orderLineId: order.lines[0].id, quantity: 1 }] }))
      .status,
    201,
  )
  const { id } = getCreatedRecord(await createReturn(api, order.id, { 'HOOD-S': 1 }))
  const visitor = await openConsole(api, await api.createAccount('visitor'))
  try {
    for (const [route, text] of [
      [`search/order/${order.id}`, 'Lines of the order'],
      [`search/return/${id}`, 'Lines of the return'],
    ] as const) {
      await visitor.show(route)
      await visitor.waitUntil(`document.body.textContent.includes(${JSON.stringify(text)})`)
      assert.deepEqual(
        await visitor.evaluate(
          `[...document.querySelectorAll('main button')].map(element => element.innerText).filter(element => element !== 'Export CSV')`,
        ),
        [],
      )
    }
  } finally {
    await visitor.close()
  }
})

test('a timeline has one entry per purchase, and consent is edited', { skip }, async () => {
  const order = await placeOrder(api, [{ sku: 'TEE', quantity: 2 }], { customerId: '65433', orderNumber: 'W-77' })
  assert.equal((await post(api, `/orders/${order.id}/shipments`, {})).status, 201)
  const { returnNumber } = getCreatedRecord(await createReturn(api, order.id, { TEE: 1 }))
  await page.show('search/customer/65433')
  await page.waitUntil(`document.querySelector('.timeline .related')`)
  const purchase = await page.evaluate<string>(
    `[...document.querySelectorAll('.timeline > li')].find(element => element.innerText.includes('W-77')).innerText.replace(/\\s+/g, ' ')`,
  )
  assert.match(
    purchase,
    new RegExp(`Order W-77 2 units AUD 20.00 .*Sale .* AUD 20.00.*Return ${returnNumber} requested −AUD 10.00`),
  )
  assert.equal(await readFigure('Lifetime spend'), 'AUD 10.00')
  await page.press('Edit consent')
  await page.waitUntil(`document.querySelector('dialog form')`)
  await page.evaluate(
    `[...document.querySelectorAll('dialog label')].find(element => element.innerText === 'Text messages').click()`,
  )
  await assertAccessible(page, 'consent')
  await page.press('Save consent')
  await page.waitUntil(isClosed)
  await page.waitForText('SMS subscription on by')
  assert.equal((await readData('/customers/65433')).smsSubscription, true)
  await page.press('Purchases')
  await page.waitUntil(`!document.querySelector('main').innerText.includes('SMS subscription on')`)
  await assertAccessible(page, 'a customer')
})

test('a local time has the zone of its season', { skip }, async () => {
  const sales = ['2026-01-15', '2026-07-15'].map(day => ({
    header: { id: `season-${day}`, saleDate: `${day} 10:00:00`, customerId: '65432' },
    line: { id: '1', quantity: 1, price: '1.00', value: '1.00' },
  }))
  await upsertTransactions(api.db, api.service, sales)
  for (const [day, shown] of [
    ['2026-01-15', '15 Jan 2026, 10:00 AEDT'],
    ['2026-07-15', '15 Jul 2026, 10:00 AEST'],
  ]) {
    await page.show(`search/sale/season-${day}`)
    await page.waitForText(shown ?? '')
  }
})

test('the buffer of a store changes its stock', { skip }, async () => {
  await page.show('stores')
  await page.waitUntil(isLoaded)
  await page.press('102')
  await page.waitUntil(`document.querySelector('.figures')`)
  const available = Number(await readFigure('Available'))
  await page.press('Change buffer')
  await page.fill('Buffer', '2')
  await page.press('Save buffer')
  await page.waitUntil(isClosed)
  await page.waitForText('2 units of each SKU')
  await page.waitUntil(
    `[...document.querySelectorAll('.figures dd')].some(element => element.innerText === '${available - 4}')`,
  )
  await assertAccessible(page, 'a store')
  assert.match(
    await page.exportCsv('Stock of store 102'),
    /^SKU,On hand,Buffer,Available,Last updated \(AE[DS]T\)\r\nHOOD-S,\d+,2,/,
  )
})

test('the link to a list returns to its search and place', { skip }, async () => {
  await placeOrder(api, [{ sku: 'TEE', quantity: 1 }], { orderNumber: 'W-78' })
  await page.show('orders')
  await page.fill('Search orders', 'W-78')
  await page.waitUntil(`location.hash.endsWith('/orders?q=W-78')`)
  await page.waitUntil(isLoaded)
  await page.press('W-78')
  await page.waitUntil(`document.querySelector('.record-head')`)
  await page.press('All orders')
  await page.waitUntil(`location.hash.endsWith('/orders?q=W-78')`)
})

test('a suspended voucher keeps its balance', { skip }, async () => {
  const { number } = getCreatedRecord(await issueVoucher(api))
  await page.show(`search/voucher/${number}`)
  await page.press('Suspend')
  await page.press('Suspend')
  await page.waitForText("can't be redeemed until it is resumed")
  const ledger = await page.exportCsv('Ledger of the voucher')
  assert.match(ledger, new RegExp(`Suspended.*,${api.username},`))
  assert.equal(await readFigure('Balance'), 'AUD 150.00')
  await assertAccessible(page, 'a suspended voucher')
})
