import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db.ts'
import { raiseAlert } from '../../src/store/running/alerts.ts'
import { setBackOffice } from '../../src/store/running/back-office.ts'
import { browserMissing } from '../support/browser.ts'
import { isAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { fillShop } from '../support/order-shop.ts'
import { until } from '../support/processes.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { issue, stockGiftCards, voucherSettings } from '../support/voucher-shop.ts'
import { type Receiver, startReceiver } from '../support/webhooks/receiver.ts'
import { post } from '../support/write.ts'

const skip = browserMissing ?? false
let shop: TestService
let receiver: Receiver
let page: Console

before(async () => {
  shop = await startTestService({ settings: voucherSettings, environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' } })
  receiver = await startReceiver()
  await stockGiftCards(shop, shop)
  await fillShop(shop.db, shop.service)
  if (!skip) page = await openConsole(shop, shop)
})
after(async () => {
  await page?.close()
  await receiver.close()
  await shop.stop()
})

const main = () => page.evaluate<string>(`document.querySelector('main').innerText`)
const rows = `[...document.querySelectorAll('tbody tr')].map(row => row.innerText.replace(/\\s+/g, ' '))`

async function lookUp(text: string) {
  await page.show('look-up')
  await page.fill('What to look up', text)
  await page.press('Look up')
}

test('today tells what has to be looked at, with a way out, until it is settled', { skip }, async () => {
  await raiseAlert(shop.db, shop.service.id, {
    kind: 'export_refused',
    subject: 'orders.csv',
    detail: 'Nobody takes it.',
  })
  await page.show('today')
  await page.says('Nobody takes it.')
  await isAccessible(page, 'today')
  await page.press('Settled')
  await page.says('Nothing has to be looked at.')
})

test('a feed tells its runs and how old the data was, and is pulled at once', { skip }, async () => {
  await shop.db.run(sql`
    insert into feed_run (service_id, feed, changed_at, ended_at, is_whole, read, inserted, refused)
    select ${shop.service.id}, 'stock', now() - n * interval '10 minutes', now() - n * interval '10 minutes' + interval '90 seconds', n = 3, 1200 * n, n, 2 - n % 3
      from generate_series(1, 3) n`)
  const settings = { driver: 'apparel21', url: 'https://127.0.0.1:9', country: 'AU' } as const
  await setBackOffice(shop.db, shop.keys, shop.service, settings)
  await until(async () => (await shop.get('/feeds')).json.data.length > 5, 'the back office is known', 20_000)
  await page.show('feeds')
  await page.press('stock')
  await page.until(`document.querySelector('.chart canvas')`)
  await page.until(`${rows}.length === 3`)
  assert.match((await page.evaluate<string[]>(rows))[2] ?? '', / ok everything 3,600 3 0 /)
  await isAccessible(page, 'a feed')
  await page.press('Pull changes')
  await page.says('A run is asked for')
  assert.equal(
    (await shop.get('/feeds')).json.data.find((feed: { feed: string }) => feed.feed === 'stock').isAsked,
    true,
  )
  await setBackOffice(shop.db, shop.keys, shop.service, { driver: 'embedded' })
  await until(
    async () => (await shop.get('/capabilities')).json.data.backOffice.driver === 'embedded',
    'it is ours again',
    20_000,
  )
})

test('a customer is found by an e-mail address, and is one time line of changes and orders', { skip }, async () => {
  const lines = [{ sku: 'HOOD-S', quantity: 1, price: '29.99', discounts: [] }]
  const address = { contactName: 'Jane Smith', addressLine1: '1 High St', city: 'Carlton', country: 'Australia' }
  const order = await post(shop, '/orders', {
    orderNumber: 'W-1001',
    customerId: '65433',
    lines,
    billingAddress: address,
    deliveryAddress: address,
    freight: '0.00',
    payments: [{ gateway: 'paypal', amount: '29.99' }],
  })
  assert.equal(order.status, 201, order.text)
  await lookUp('jane@example.com')
  await page.says('Jane Smith')
  await page.says('Order W-1001')
  await isAccessible(page, 'a customer')

  await lookUp('W-1001')
  await page.says('Style HOOD-S')
  await page.says('Nothing of it came back.')
  assert.match(await main(), /Total\s+AUD 29\.99/)
  await isAccessible(page, 'an order')
})

test('a SKU shows its stock by store, and why so much of it can be sold', { skip }, async () => {
  await lookUp('TEE')
  await page.says('Style TEE')
  await page.press('TEE')
  await page.says('5 free')
  assert.match((await page.evaluate<string[]>(rows)).join('\n'), /^102 Warehouse 5 0 5 5 free − 0 held back /m)
  await isAccessible(page, 'stock')
  assert.match(
    await page.exported(),
    /^Store,Free,Held back,Sellable,Why,Changed\r\n102 Warehouse,5,0,5,5 free − 0 held back,/,
  )
})

test('what nothing goes by is said so; a voucher is opened with its PIN, a wrong one not', { skip }, async () => {
  const { number, pin } = (await issue(shop)).json.data
  await lookUp(number)
  await page.says(`Nothing goes by ${number}.`)
  await page.press(`open ${number} as a voucher`)
  await page.fill('PIN', '000000')
  await page.press('Open')
  await page.says('voucher_not_accepted')
  await isAccessible(page, 'a wrong PIN')
  await page.fill('PIN', pin)
  await page.press('Open')
  await page.says('Available')
  assert.equal((await page.evaluate<string>('location.href')).includes(pin), false)
})

test('an endpoint is made, tried, paused, rewound, given a new secret and removed', { skip }, async () => {
  await page.show('webhooks')
  await page.says('No endpoint is told of changes yet.')
  await page.press('New endpoint')
  await isAccessible(page, 'a new endpoint')
  await page.fill('URL', receiver.url)
  await page.press('Save')
  await page.says('whsec_')
  await page.press('I have it')
  await page.press(receiver.url)
  await page.press('Send a test')
  await page.says('The test was taken')
  assert.equal(receiver.received.length, 1)
  await page.says('204')
  await isAccessible(page, 'an endpoint')
  for (const [button, done] of [
    ['Pause', 'paused'],
    ['Rotate secret', 'whsec_'],
  ] as const) {
    await page.press(button)
    await page.until(`document.querySelector('dialog')`)
    await page.press(button)
    await page.until(`!document.querySelector('dialog')`)
    await page.says(done)
  }
  await page.press('Rewind')
  await page.fill('From', 'beginning')
  await page.press('Rewind')
  await page.until(`!document.querySelector('dialog')`)
  await page.press('Resume')
  await page.says('active')
  await page.press('Remove')
  await page.until(`document.querySelector('dialog')`)
  await page.press('Remove')
  await page.says('No endpoint is told of changes yet.')
})

test('a SKU is mapped to what it is in the shop', { skip }, async () => {
  await page.show('mappings/skus')
  await page.press('Map id-TEE')
  await isAccessible(page, 'a mapping')
  await page.fill('E-commerce SKU', 'tee-black-s')
  await page.press('Save')
  await page.until(`!document.querySelector('dialog')`)
  assert.equal((await shop.get('/mappings/skus/id-TEE')).json.data.ecommerceSku, 'tee-black-s')
})

test('an account is made with its key, given another role and revoked', { skip }, async () => {
  await page.show('accounts')
  await page.press('New account')
  await page.fill('Username', 'anna')
  await page.press('Make account')
  await page.says('API key')
  const [password = ''] = /[\w-]{43}/.exec(await main()) ?? []
  const headers = { authorization: `Basic ${btoa(`anna:${password}`)}`, 'x-service-name': shop.service.name }
  assert.equal((await shop.raw('/stores', { headers })).status, 200)
  await page.press('I have it')
  await isAccessible(page, 'accounts')
  await page.press('Change role of anna')
  await page.fill('Role', 'maintainer')
  await page.press('Save')
  await page.until(`${rows}.some(row => row.startsWith('anna maintainer'))`)
  await page.evaluate(
    `[...document.querySelectorAll('tr')].find(row => row.innerText.includes('anna')).querySelector('.danger').click()`,
  )
  await page.until(`document.querySelector('dialog')`)
  await page.press('Revoke')
  await page.until(`!${rows}.some(row => row.startsWith('anna'))`)
})

test('a setting is changed after it was seen what that comes to; one that cannot be is refused before', {
  skip,
}, async () => {
  await page.show('settings')
  await page.says('inventoryBuffer')
  await page.fill('inventoryBuffer', '3')
  await page.press('Review 1 change')
  await page.until(`!/Trying it/.test(document.querySelector('dialog').innerText)`)
  assert.match(await page.evaluate<string>(`document.querySelector('dialog').innerText`), /inventoryBuffer\s+0 → 3/)
  await isAccessible(page, 'a review')
  await page.press('Save')
  await page.until(`!document.querySelector('dialog')`)
  assert.equal((await shop.get('/settings')).json.data.inventoryBuffer, 3)
  await page.fill('currency', 'GOLD')
  await page.press('Review 1 change')
  await page.until(`document.querySelector('dialog [role="alert"]')`)
  await page.press('Close')
  await page.press('Discard')
})

test('the audit tells who did so, and a CSV takes it along', { skip }, async () => {
  await page.show('audit')
  await page.until(`${rows}.some(row => row.includes('PUT /settings'))`)
  const csv = await page.exported()
  assert.match(csv, new RegExp(`,${shop.username},PUT /settings,/settings,inventoryBuffer,`))
  assert.equal(csv.split('\r\n').length - 2, (await shop.get('/audit')).json.data.length)
})

test('nothing was asked of anybody else, and the policy of the page was kept', { skip }, () => {
  assert.deepEqual(
    page.requests.filter(url => !url.startsWith(`${shop.baseUrl}/`) && !/^(blob|data):/.test(url)),
    [],
  )
  const unforeseen = page.complaints.filter(text => !/Failed to load resource: .* (40[034]|422)/.test(text))
  assert.deepEqual(unforeseen, [])
})
