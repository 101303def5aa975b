import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole, route } from '../support/console/console.ts'
import { fillShop } from '../support/order-shop.ts'
import { startTestApi, type TestApi } from '../support/service.ts'

const skip = browserMissing ?? false
let api: TestApi
let page: Console

before(async () => {
  if (skip) return
  api = await startTestApi({ settings: { timeZone: 'Australia/Sydney' } })
  await fillShop(api.db, api.service)
  // The list is too long to render all its rows.
  await api.db.run(sql`
    insert into customer (service_id, id, changed_at, record, ecommerce_ids, firstname, surname, email, email_subscription)
    select ${api.service.id}, 'c' || n, now(), '{"id":"c' || n || '","contact":{"email":null,"phones":{}},"address":{},"references":{}', '}', 'Ann', 'Long' || lpad(n::text, 5, '0'), 'ann' || n || '@example.com', n % 2 = 0
      from generate_series(1, 50000) n`)
  page = await openConsole(api, api)
})
after(async () => {
  await page?.close()
  await api?.stop()
})

const rows = `[...document.querySelectorAll('.data tbody tr:not(.spacer)')].map(row => row.innerText.replace(/\\s+/g, ' ').trim())`
const readHash = () => page.evaluate<string>(route)
const isLoaded = `document.querySelector('.data') && !document.querySelector('[aria-busy="true"]')`
const scrollTo = (share: number) =>
  page.evaluate(
    `(() => { const element = document.querySelector('.data'); element.scrollTop = element.scrollHeight * ${share} })()`,
  )

test('a list of 50,000 customers is searched, filtered, sorted and scrolled', { skip }, async () => {
  await page.show('customers')
  await page.waitUntil(isLoaded)
  await assertAccessible(page, 'customers')
  await scrollTo(0.5)
  await page.waitUntil(`${rows}.some(row => row.includes('Long2500')) && ${isLoaded}`)
  assert.ok((await page.evaluate<number>(`document.querySelectorAll('.data *').length`)) < 2_000)
  await page.waitUntil(`location.hash.includes('at=')`)
  await page.fill('Search customers', 'ann4321@example.com')
  await page.waitForText('1 customer')
  assert.match((await page.evaluate<string[]>(rows))[0] ?? '', /^Ann Long04321 ann4321@example.com/)
  assert.equal(await readHash(), '#customers?q=ann4321%40example.com')
  await page.fill('Search customers', '')
  await page.press('Email consent')
  await page.waitForText('25,000 customers')
  await page.press('Name ↑')
  await page.waitUntil(`${rows}[0]?.includes('Long50000')`)
  assert.equal(await readHash(), '#customers?filter=email&sort=-name')
})

test('Back returns to the same place of a list', { skip }, async () => {
  await page.show('customers?filter=email&sort=-name')
  await page.waitUntil(isLoaded)
  await scrollTo(0.3)
  await page.waitUntil(`location.hash.includes('at=')`)
  await page.waitUntil(isLoaded)
  const place = await readHash()
  // The rows that are visible in the table's frame, below the header.
  const visible = `(({ top, bottom }) => [...document.querySelectorAll('.data tbody a')].filter(element => element.getBoundingClientRect().top > top + 60 && element.getBoundingClientRect().bottom < bottom).map(element => element.innerText))(document.querySelector('.data').getBoundingClientRect())`
  const name = (await page.evaluate<string[]>(visible))[2] ?? ''
  await page.press(name)
  await page.waitForText('Timeline')
  await page.evaluate('history.back()')
  await page.waitUntil(`${route} === ${JSON.stringify(place)} && ${isLoaded}`)
  await page.waitUntil(`${visible}.includes(${JSON.stringify(name)})`)
})

test('a filtered list is exported as CSV, and rows open records', { skip }, async () => {
  await page.show('stores')
  await page.waitUntil(isLoaded)
  const csv = await page.exportCsv('Stores')
  assert.match(csv, /^Number,Name,Type,City,State,Buffer,E-commerce location,Updated \(AE[DS]T\)\r\n/)
  await page.show('stock?filter=none&q=nothing')
  await page.waitForText('No matching stock levels.')
  await page.press('Clear search and filters')
  await page.waitUntil(isLoaded)
  await page.evaluate(`document.querySelector('.data tbody tr:not(.spacer) td:nth-child(2)').click()`)
  await page.waitUntil(`${route}.startsWith('#search/product/sku')`)
})

test('lists are cards on narrow screens and accessible in the dark', { skip }, async t => {
  t.after(() => page.setAppearance({}))
  await page.setAppearance({ width: 390, colours: 'dark' })
  for (const list of ['orders', 'sales', 'returns', 'customers', 'products', 'stock', 'vouchers', 'stores', 'staff']) {
    await page.show(list)
    await page.waitUntil(
      `(document.querySelector('.data') || document.querySelector('.empty')) && !document.querySelector('[aria-busy="true"]')`,
    )
    await assertAccessible(page, list)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, list)
    const fillsFrame = `[...document.querySelectorAll('.data')].every(({ clientWidth, firstElementChild: table }) => table.clientWidth >= clientWidth - 1)`
    assert.equal(await page.evaluate(fillsFrame), true, `the cards of ${list} fill their frame`)
  }
  for (const screen of ['accounts', 'orders']) {
    await page.show(screen)
    await page.waitUntil(`document.querySelector('main h1') && !document.querySelector('[aria-busy="true"]')`)
    const small = await page.evaluate<string[]>(
      `[...document.querySelectorAll('button, nav a, input:not([type="checkbox"], [type="radio"]), select')].filter(element => element.checkVisibility() && element.getBoundingClientRect().height < 40).map(element => element.outerHTML.slice(0, 120))`,
    )
    assert.deepEqual(small, [], screen)
  }
})

test('short lists end with their rows, and cards name their numbers', { skip }, async t => {
  t.after(() => page.setAppearance({}))
  for (const width of [1360, 390]) {
    await page.setAppearance({ width })
    await page.show('overview')
    await page.show('products')
    await page.waitUntil(isLoaded)
    const empty = `(({ clientHeight, firstElementChild: table }) => clientHeight - table.offsetHeight)(document.querySelector('.data'))`
    assert.equal(await page.evaluate(empty), 0, String(width))
  }
  const titles = `[...document.querySelectorAll('.data tr:first-child .labelled')].filter(cell => cell.checkVisibility())
    .map(cell => getComputedStyle(cell, '::before').content.replaceAll('"', '').trim())`
  assert.deepEqual(await page.evaluate(titles), ['Price', 'In stock'])
})
