import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { computeOnHand } from '../../simulator/shopify/state.ts'
import { type ConnectedShop, connectShop } from '../ecommerce/connected-shop.ts'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { startTestApi, type TestApi } from '../support/service.ts'

const skip = browserMissing ?? false
const simulator = await startShopifySimulator({ size: { locations: 2, variants: 0, customers: 0 } })
let api: TestApi
let fixture: ConnectedShop
let page: Console

before(async () => {
  api = await startTestApi()
  fixture = await connectShop(api, simulator)
  if (!skip) page = await openConsole(api, fixture.shop)
})
after(async () => {
  await page?.close()
  await simulator.close()
  await api?.stop()
})
const readStatus = async () => (await fixture.shop.get('/ecommerce')).json.data

test('the first push is confirmed after a review of the differences', { skip }, async () => {
  await fixture.connect({ stockPush: 'dryRun' })
  await page.show('ecommerce')
  await page.waitForText('dry run: waits for confirmation')
  await page.press('Compare now')
  await page.waitForText('Queued. The comparison starts when a worker is free.')
  await fixture.reconcile()
  await page.press('Refresh')
  await page.waitForText('Levels that the push would raise: 6, lower: 0, set to zero: 0')
  await assertAccessible(page, 'the first push')
  await page.waitForText('of 2,000')
  assert.match(await page.exportCsv('Largest differences'), /12001,gid:\/\/shopify\/Location\/\d+,3,7/)
  await page.press('Start the push')
  await page.waitForText('The quantities on the platform are replaced with these.')
  assert.equal((await readStatus()).stockPush, 'dryRun')
  await page.press('Start the push')
  await page.waitUntil(`!document.querySelector('dialog')`)
  await page.waitForText('Push now')
  assert.equal((await readStatus()).stockPush, 'on')
  await fixture.push()
  assert.equal(computeOnHand(fixture.getLevel('12001')), 7)
})

test('held levels are shown with their reasons and remedies', { skip }, async () => {
  fixture.addVariant('OTHER', 4)
  await fixture.sync('ecommerce-variants')
  await fixture.reconcile()
  await page.press('Refresh')
  await page.waitForText('Map the SKU, or map a store to the location.')
  await page.waitForText('ecommerce-variants')
  await assertAccessible(page, 'the connection')
  await page.press('Show held levels')
  await page.waitForText('OTHER')
  await assertAccessible(page, 'held levels')
  const [header, ...rows] = (await page.exportCsv()).trim().split('\r\n')
  assert.match(header ?? '', /SKU,Location,State,Reason/)
  assert.equal(rows.filter(row => /^OTHER,.*,held,unmapped,/.test(row)).length, 2)
})

test('stock that others changed is listed for a comparison', { skip }, async () => {
  await fixture.ageQuantities()
  const itemId = fixture.items['12001'] ?? 0
  simulator.change({ kind: 'count', itemId, locationId: fixture.locations[0], available: 40 })
  await fixture.reconcile()
  await page.show('ecommerce')
  await page.waitForText('differ')
  const [{ id }] = (await fixture.shop.get('/ecommerce/reconciliations')).json.data
  await page.show(`ecommerce/reconciliations/${id}`)
  await page.waitForText('12001')
  await assertAccessible(page, 'drift')
  assert.match(await page.exportCsv(), /12001,gid:\/\/shopify\/Location\/\d+,7,40/)
})

test('without a connection, the page says how to connect', { skip }, async () => {
  const other = await api.createService()
  const plain = await openConsole(api, other)
  try {
    await plain.show('ecommerce')
    await plain.waitForText('No connection yet.')
    await assertAccessible(plain, 'no connection')
  } finally {
    await plain.close()
  }
})
