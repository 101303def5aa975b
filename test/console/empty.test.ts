import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { browserMissing } from '../support/browser.ts'
import { isAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { lookAt, screens } from '../support/console/crawl.ts'
import { startTestService, type TestService } from '../support/service.ts'

// What holds of each screen where there is nothing yet, and where nothing answers.

const skip = browserMissing ?? false
let shop: TestService
let page: Console

before(async () => {
  shop = await startTestService()
  if (!skip) page = await openConsole(shop, shop)
})
after(async () => {
  await page?.close()
  await shop?.stop()
})

/** What is said to whoever has nothing there yet. */
const firstSteps: Record<string, RegExp> = {
  overview: /Nothing needs attention\./,
  syncs: /Drop one, or import it: tillbridge import stock stock\.csv/,
  'syncs/stock': /no file of it has come yet\. Import a file of stock/,
  import: /Drop a file here, \.csv or \.ndjson/,
  search: /A customer's email address, name or id, an order/,
  'requests/search/code%3Dnot_found': /Leave something out, or look at another time/,
  webhooks: /Add one, and what changes from then on is posted to it/,
  'mappings/skus': /No SKUs yet\. They are loaded by the syncs\./,
  'mappings/check': /Press Check now\./,
  'mappings/fixes': /No fixes yet\. Show mapping issues/,
  accounts: /New account/,
  settings: /Still missing/,
  audit: /The first write of any account shows here\./,
}

test('each screen of a new service explains the next step', { skip }, async () => {
  for (const { path } of screens)
    assert.ok(
      Object.keys(firstSteps).some(place => place.startsWith(path)),
      path,
    )
  for (const [place, words] of Object.entries(firstSteps)) {
    await lookAt(page, place)
    await page.until(`${words}.test(document.querySelector('main').innerText)`)
    await isAccessible(page, `${place}, empty`)
  }
  assert.deepEqual(page.complaints, [])
})

test('missing voucher settings are shown as a checklist', { skip }, async () => {
  await lookAt(page, 'settings')
  await page.says('Still missing')
  const list = await page.evaluate<string[]>(`[...document.querySelectorAll('.todo li')].map(item => item.innerText)`)
  const { capabilities } = (await shop.get('/capabilities')).json.data
  const missing = capabilities.filter((each: { available: boolean }) => !each.available)
  assert.deepEqual(
    list,
    missing.map(({ name, reason = '' }: { name: string; reason?: string }) =>
      `${name} ${reason.replaceAll('`', '')}`.trim(),
    ),
  )
  assert.match(list.join('\n'), /vouchers/i)
})

test('a failed screen shows the code, the remedy and the request', { skip }, async () => {
  await page.evaluate(`globalThis.fetch = async () => new Response(
    JSON.stringify({ code: 'service_unavailable', title: 'The service itself cannot answer at the moment.', requestId: 'unanswered', status: 503 }),
    { status: 503 },
  )`)
  for (const { path } of screens.filter(screen => !['import', 'search'].includes(screen.path))) {
    await page.show(path)
    await page.until(`document.querySelector('main .problem')`)
    const said = await page.evaluate<string>(`document.querySelector('main .problem').innerText`)
    assert.match(said, /^The service itself cannot answer/, path)
    assert.match(said, /Wait for Retry-After seconds/, path)
    assert.match(said, /service_unavailable\s+request\s+unanswered/, path)
    // Of many figures, what keeps all of them away is told once.
    if (path === 'overview')
      assert.equal(await page.evaluate<number>(`document.querySelectorAll('main .problem').length`), 1)
  }
  await page.show('search')
  await page.fill('What to look up', '4711')
  await page.press('Look up')
  await page.says('request unanswered')
})
