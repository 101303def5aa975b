import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { openScreen, screens } from '../support/console/crawl.ts'
import { startTestApi, type TestApi } from '../support/service.ts'

// Tests the screens of a service without data, and all screens if the API fails.

const skip = browserMissing ?? false
let api: TestApi
let page: Console

before(async () => {
  api = await startTestApi()
  if (!skip) page = await openConsole(api, api)
})
after(async () => {
  await page?.close()
  await api?.stop()
})

/** The next step that each empty screen explains. */
const firstSteps: Record<string, RegExp> = {
  overview: /Nothing needs attention[\s\S]+Get started 0 of 4 done[\s\S]+appear here when the service has records/,
  syncs: /No data yet\. Import a file, or connect a back office/,
  'syncs/stock': /No data yet\. Import a file/,
  import: /Drop a file here, \.csv or \.ndjson[\s\S]+Files that you can import/,
  search: /Enter the beginning of an order, receipt[\s\S]+Or browse a list/,
  'requests/search/code%3Dnot_found': /Try fewer filters or another time range/,
  webhooks: /Add an endpoint to receive changes/,
  'mappings/skus': /No SKUs yet\. Syncs or imports load them\./,
  mappings: /Press Check now\./,
  ecommerce: /No connection yet[\s\S]+Connect Shopify[\s\S]+Connect Medusa/,
  'mappings/fixes': /No fixes yet\. Show mapping issues/,
  orders: /No orders yet\./,
  sales: /No sales yet\.\s+Sync the back office or import a file/,
  returns: /No returns yet\./,
  customers: /No customers yet\.\s+Sync/,
  products: /No products yet\.\s+Sync/,
  stock: /No stock yet\.\s+Sync/,
  vouchers: /No gift vouchers yet\./,
  stores: /No stores yet\.\s+Sync/,
  staff: /No staff yet\.\s+Sync/,
  'back-office': /Embedded[\s\S]+Connect Apparel21/,
  accounts: /New person/,
  'api-keys': /No API keys yet\./,
  'second-factor': /A code of an authenticator app/,
  settings: /To set up/,
  audit: /No changes yet\./,
  system: /Backups\s+no backup/,
}

test('each screen of a new service explains the next step', { skip }, async () => {
  for (const { path } of screens.filter(({ needsServices }) => !needsServices))
    assert.ok(
      Object.keys(firstSteps).some(route => route.startsWith(path)),
      path,
    )
  for (const [route, text] of Object.entries(firstSteps)) {
    await openScreen(page, route)
    await page.waitUntil(`${text}.test(document.querySelector('main').innerText)`)
    await assertAccessible(page, `${route}, empty`)
  }
  assert.deepEqual(page.pageErrors, [])
})

test('commands that connect a system are copied with the service', { skip }, async () => {
  await page.evaluate(`navigator.clipboard.writeText = async text => { globalThis.copied = text }`)
  for (const [route, command] of [
    ['back-office', `tillbridge back-office test ${api.service.name}`],
    ['ecommerce', `tillbridge ecommerce test ${api.service.name}`],
  ] as const) {
    await openScreen(page, route)
    await page.press(route === 'ecommerce' ? 'Copy command 3: Connect Shopify' : 'Copy command 2: Connect Apparel21')
    await page.waitUntil(`globalThis.copied === ${JSON.stringify(command)}`)
  }
})

test('missing features that settings add are apart from limits', { skip }, async () => {
  await openScreen(page, 'settings')
  await page.waitForText('To set up')
  const readItems = (list: string) =>
    page.evaluate<string[]>(`[...document.querySelectorAll('${list} .todo li')].map(item => item.innerText)`)
  const [settable, limits] = [await readItems('[aria-label="To set up"]'), await readItems('details')]
  const { capabilities } = (await api.get('/capabilities')).json.data
  const missing = capabilities.filter((capability: { available: boolean }) => !capability.available)
  assert.equal(settable.length + limits.length, missing.length)
  assert.match(settable.join('\n'), /vouchers/i)
  await page.press('Set Gift vouchers')
  await page.waitUntil(`document.activeElement.id === 'setting-vouchersEnabled'`)
})

/** Screens that load nothing before their form is submitted. */
const formScreens = ['import', 'search', 'second-factor']

test('a failed screen shows the code, the remedy and the request', { skip }, async () => {
  await page.evaluate(`globalThis.fetch = async () => new Response(
    JSON.stringify({ code: 'service_unavailable', title: 'The service itself cannot answer at the moment.', requestId: 'unanswered', status: 503 }),
    { status: 503 },
  )`)
  const loading = screens.filter(screen => !screen.needsServices && !formScreens.includes(screen.path))
  for (const { path } of loading) {
    await page.show(path)
    await page.waitUntil(`document.querySelector('main .problem')`)
    const problem = await page.evaluate<string>(`document.querySelector('main .problem').innerText`)
    assert.match(problem, /^The service itself cannot answer/, path)
    assert.match(problem, /Wait a moment, then try again/, path)
    assert.match(problem, /service_unavailable\s+request\s+unanswered/, path)
    // If all sections have the same error, it is shown once.
    if (path === 'overview')
      assert.equal(await page.evaluate<number>(`document.querySelectorAll('main .problem').length`), 1)
  }
  await page.show('search')
  await page.fill('Search text', '4711')
  await page.press('Search')
  await page.waitForText('request unanswered')
})
