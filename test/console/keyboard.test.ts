import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { raiseAlert } from '../../src/store/alerts/alerts.ts'
import { browserMissing } from '../support/browser.ts'
import { type Console, openConsole, route } from '../support/console/console.ts'
import { fillShop } from '../support/order-shop.ts'
import { waitUntil } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { post } from '../support/write.ts'

// After each step, the keyboard focus must stay at its control or move to an adjacent one, never to the top of the page.

const skip = browserMissing ?? false
let api: TestApi
let page: Console

before(async () => {
  api = await startTestApi({ environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' } })
  await fillShop(api.db, api.service)
  if (!skip) page = await openConsole(api, api)
})
after(async () => {
  await page?.close()
  await api?.stop()
})

const findControl = (name: string) =>
  `[...document.querySelectorAll('button, input, select')].find(element => (element.ariaLabel ?? element.labels?.[0]?.innerText.trim().split('\\n')[0] ?? element.innerText.trim()) === ${JSON.stringify(name)})`

async function focus(name: string) {
  await page.waitUntil(findControl(name))
  await page.evaluate(`${findControl(name)}.focus()`)
}
const waitForFocus = (name: string) =>
  page.waitUntil(`${findControl(name)} && document.activeElement === ${findControl(name)}`)

test('an export keeps the keyboard focus until and after its end', { skip }, async () => {
  await page.show('accounts')
  await focus('Export CSV: People')
  await page.evaluate(`(() => {
    const realFetch = fetch
    URL.createObjectURL = () => '#'
    HTMLAnchorElement.prototype.click = () => { globalThis.saved = true }
    globalThis.fetch = async (path, options) => {
      if (options.headers.accept === 'application/x-ndjson') await new Promise(resolve => { globalThis.respond = resolve })
      return realFetch(path, options)
    }
  })()`)
  await page.pressKey('Enter')
  await waitForFocus('Cancel')
  await page.waitUntil('globalThis.respond')
  await page.evaluate('respond()')
  await page.waitUntil('globalThis.saved')
  await waitForFocus('Export CSV: People')
})

test('resolving an alert keeps the focus in the list', { skip }, async () => {
  await raiseAlert(api.db, api.service.id, {
    kind: 'export_file_rejected',
    subject: 'a.csv',
    detail: 'The last one.',
  })
  await page.show('overview')
  await page.waitForText('The last one.')
  await focus('Resolve: Export file has rejected lines')
  await page.pressKey('Enter')
  await page.waitForText('Nothing needs attention')
  await page.waitUntil(`document.activeElement.ariaLabel === 'Needs attention'`)
})

test('a search keeps the focus in its field and a reset too', {
  skip,
}, async () => {
  await page.show('requests')
  await page.waitUntil(`document.querySelector('.filters summary')`)
  await page.evaluate(`document.querySelector('.filters summary').focus()`)
  await page.pressKey('Enter')
  await focus('Path or operation')
  await page.type('/stores')
  await page.pressKey('Enter')
  await page.waitUntil(`location.hash.includes('search')`)
  await page.waitForText('Results')
  await waitForFocus('Path or operation')
  await focus('Clear')
  await page.pressKey('Enter')
  await page.waitUntil(`${route} === '#requests' && !${findControl('Clear')}`)
  await page.waitUntil(`document.activeElement.getAttribute('role') === 'search'`)
  await page.waitUntil(`${findControl('Path or operation')}.value === ''`)
})

test('a followed link moves the focus and updates the page title', {
  skip,
}, async () => {
  const body = 'storeId,storeNumber,name\n9,9,North\n'
  await api.request('/imports?type=stores', { method: 'POST', headers: { 'content-type': 'text/csv' }, body })
  const { id } = (await post(api, '/webhooks', { url: 'http://127.0.0.1:9999/hooks' })).json.data
  // The screen shows no requests of the console.
  const path = '/requests?operation=POST%20/webhooks'
  await waitUntil(async () => (await api.get(path)).json.data.length > 0, 'a request is logged')
  for (const [screen, title, link, record] of [
    ['syncs', 'Syncs', 'syncs/stores', 'stores'],
    ['webhooks', 'Webhooks', `webhooks/${id}`, id],
    ['requests', 'Request log', 'requests/', ''],
    ['search', 'Search', 'search/customer/65432', 'customer 65432'],
  ]) {
    await page.show(String(screen))
    if (screen === 'search') {
      await focus('Search text')
      await page.type('smith')
      await page.pressKey('Enter')
    }
    const linkElement = `document.querySelector('main td a[href*="/${link}"], .hits a[href*="/${link}"]')`
    await page.waitUntil(linkElement)
    await page.evaluate(`${linkElement}.focus()`)
    await page.pressKey('Enter')
    await page.waitUntil(`${route}.startsWith('#${link}') && document.activeElement.id === 'content'`)
    const [first, ...titleParts] = (await page.evaluate<string>('document.title')).split(' · ')
    assert.deepEqual(titleParts, [title, api.service.name, 'Tillbridge'])
    assert.match(first ?? '', record ? new RegExp(`^${record}$`) : /^[\w-]{36}$/)
  }
})

test('a mapping type switch keeps the focus and clears the old list', {
  skip,
}, async () => {
  await page.show('mappings/stores')
  for (const [kind, column] of [
    ['SKUs', 'E-commerce SKU'],
    ['Customers', 'Legacy ID'],
  ] as const) {
    const link = `[...document.querySelectorAll('main .chip')].find(element => element.innerText === ${JSON.stringify(kind)})`
    await page.waitUntil(link)
    await page.evaluate(`${link}.focus()`)
    await page.pressKey('Enter')
    await page.waitUntil(
      `[...document.querySelectorAll('th')].some(cell => cell.innerText === ${JSON.stringify(column)})`,
    )
    await page.waitUntil(`document.activeElement === ${link}`)
  }
  // A search requests all types of records.
  assert.deepEqual(
    page.pageErrors.filter(text => !/Failed to load resource: .* 404/.test(text)),
    [],
  )
})
