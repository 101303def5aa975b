import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { fillShop } from '../support/order-shop.ts'
import { waitUntil } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'

const skip = browserMissing ?? false
let api: TestApi
let page: Console
let rejected: string

before(async () => {
  api = await startTestApi()
  await fillShop(api.db, api.service)
  const customer = { firstname: 'Jane', surname: 'Doe', contact: { email: 'jane.doe@example.com' } }
  const created = await post(api, '/customers', customer, withKey('made-once'))
  assert.equal(created.status, 201, created.text)
  for (let i = 0; i < 2; i++) {
    const accepted = await post(api, '/customers', customer)
    assert.equal(accepted.json.code, 'email_taken', accepted.text)
    rejected = accepted.json.requestId
  }
  for (let i = 0; i < 3; i++)
    assert.equal((await post(api, '/customers', { ...customer, surname: 5 })).json.code, 'invalid_body')
  await waitUntil(
    async () => (await api.get(`/requests?request_id=${rejected}`)).json.data.length > 0,
    'the request is logged',
    20_000,
  )
  if (!skip) page = await openConsole(api, api)
})
after(async () => {
  await page?.close()
  await api.stop()
})

const buildRowsExpression = (caption: string) =>
  `[...document.querySelectorAll('[aria-label=${JSON.stringify(caption)}] tbody tr')].map(row => row.innerText.replace(/\\s+/g, ' '))`
const openFilters = () => page.evaluate(`document.querySelector('.filters').open = true`)
const resultRows = buildRowsExpression('Requests, newest first')

test('errors are grouped by code and field and link to their requests', { skip }, async () => {
  await page.show('requests')
  await page.waitUntil(
    `${buildRowsExpression('Errors by code and field')}.some(row => /^email_taken \\/contact\\/email 2 .* POST \\/customers /.test(row))`,
  )
  await page.waitUntil(
    `${buildRowsExpression('Errors by code and field')}.some(row => /^invalid_body \\/surname 3 /.test(row))`,
  )
  await page.waitUntil(`${resultRows}.length > 3`)
  await assertAccessible(page, 'requests')
  await page.press('email_taken')
  await page.waitUntil(`${resultRows}.length === 2`)
  const csv = await page.exportCsv('Requests')
  assert.match(csv, /^Time,Status,Error,Operation,Record,Account,Duration \(ms\),Request\r\n/)
  assert.match(csv, new RegExp(`Z,409,email_taken,POST /customers,/customers,${api.username},[\\d.]+,${rejected}\r\n`))
})

test('a request is found by its known fields and shows its timings', { skip }, async () => {
  await page.press('Clear')
  await page.waitUntil(`![...document.querySelectorAll('button')].some(button => button.innerText === 'Clear')`)
  await openFilters()
  await page.fill('Request ID', rejected)
  await page.press('Search')
  await page.waitUntil(`${resultRows}.length === 1`)
  await page.press(`…${rejected.slice(-8)}`)
  await page.waitUntil(`${buildRowsExpression('Timing')}.length >= 3`)
  const steps = await page.evaluate<string[]>(buildRowsExpression('Timing'))
  assert.equal(await page.evaluate(`document.querySelector('main h1').innerText`), 'POST /customers → 409')
  assert.match(steps[0] ?? '', /^request 0 ms [\d.]+ ms 409 email_taken/)
  assert.match(steps.at(-1) ?? '', /^database \(at least one statement runs\) – [\d.]+ ms \d+ statements/)
  await page.waitForText('No changes')
  await assertAccessible(page, 'a request')
})

test('a request opens next to the list, and its database time fits', { skip }, async () => {
  await page.show('requests')
  await page.waitUntil(`${resultRows}.length > 3`)
  await page.click(`document.querySelector('[aria-label="Requests, newest first"] tbody button')`)
  await page.waitUntil(`document.querySelector('dialog [aria-label="Timing"]')`)
  await assertAccessible(page, 'a request next to the list')
  await page.press('Close')
  for (const { id } of (await api.get('/requests?limit=20')).json.data) {
    const { milliseconds, databaseMilliseconds } = (await api.get(`/requests/${id}`)).json.data
    assert.ok(databaseMilliseconds <= milliseconds, `${id}: ${databaseMilliseconds} of ${milliseconds} ms`)
  }
})

test('requests of the console are left out unless they are included', { skip }, async () => {
  const countConsole = `${resultRows}.filter(row => row.includes('/health')).length`
  await page.show('requests')
  await page.waitUntil(`${resultRows}.length > 3`)
  assert.equal(await page.evaluate(countConsole), 0)
  await page.press('Include console traffic')
  await page.waitUntil(`${countConsole} > 0`)
  const { intervals } = (await api.get('/console/requests/intervals?range=1h')).json.data
  const counted = intervals.reduce((sum: number, interval: { answered: number }) => sum + interval.answered, 0)
  const answered = (await api.get('/console/requests?limit=100')).json.data.length
  assert.ok(counted <= answered, `${counted} of ${answered}`)
  assert.match(
    await page.evaluate<string>(`document.querySelector('.intervals .values').innerText`),
    /^\d+ requests · \d+ client errors \(4xx\) · 0 server errors/,
  )
  await page.click(`[...document.querySelectorAll('.bars.stacked > .opens')].at(-1)`)
  await page.waitUntil(`location.hash.includes('answered_after')`)
  await page.click(
    `[...document.querySelectorAll('[aria-label="Filters"] button')].find(element => element.innerText.startsWith('Until'))`,
  )
  await page.waitUntil(`!location.hash.includes('answered_before')`)
})

test('the search form has each request field', { skip }, async () => {
  for (const [field, value, row, count] of [
    ['Idempotency key', 'made-once', / 201 .*POST \/customers /, 1],
    ['Error', 'email_taken', / 409 email_taken /, 2],
    ['Status', '409', / 409 email_taken /, 2],
    ['Path or operation', '/customers', / POST \/customers /, 6],
  ] as const) {
    await page.show('requests')
    await page.waitUntil(`![...document.querySelectorAll('button')].some(button => button.innerText === 'Clear')`)
    await openFilters()
    await page.fill(field, value)
    await page.press('Search')
    await page.waitForText('Results')
    await page.waitUntil(`${resultRows}.length === ${count} && ${resultRows}.some(row => ${row}.test(row))`)
  }
})

test('a record links to its requests with path, outcome, time and changes', {
  skip,
}, async () => {
  await page.show('search')
  await page.fill('Search text', 'jane.doe@example.com')
  await page.press('Search')
  await page.press('Requests about this record')
  await page.waitUntil(`${resultRows}.some(row => row.includes('POST /customers'))`)
  await page.fill('Path or operation', 'POST /customers')
  await page.fill('Result', 'false')
  await page.fill('From (your time zone)', '2020-01-01T00:00')
  await page.press('Search')
  await page.waitUntil(`${resultRows}.length === 1`)
  await page.click(`document.querySelector('[aria-label="Requests, newest first"] tbody a')`)
  await page.waitUntil(`document.querySelector('.timeline')`)
  assert.match(
    await page.evaluate<string>(`document.querySelector('.timeline').innerText`),
    /Wrote \/customers\/\S+ .*surname/s,
  )
  await page.press('open record')
  await page.waitForText('Jane Doe')
})

test('an empty result is stated, and a console error links its request', { skip }, async () => {
  await page.show('requests')
  await openFilters()
  await page.fill('Account', 'nobody')
  await page.press('Search')
  await page.waitForText('No matching requests.')
  await assertAccessible(page, 'no matching requests')
  await page.show('webhooks/none')
  await page.click(`document.querySelector('[role="alert"] a[href*="/requests/"]')`)
  await page.waitForText('GET /webhooks/:id')
})

const focused = `(({ ariaLabel, innerText, labels }) => ariaLabel ?? labels?.[0]?.innerText.trim().split('\\n')[0] ?? innerText.trim())(document.activeElement)`

/** Presses Tab until the control with this name has the focus, and asserts that its focus is visible. */
async function tabTo(name: string, shift?: 'shift') {
  for (let presses = 0; presses < 60; presses++) {
    await page.pressKey('Tab', shift)
    const outline = await page.evaluate<string>(`getComputedStyle(document.activeElement).outlineStyle`)
    const current = await page.evaluate<string>(focused)
    if (current === name) return assert.equal(outline, 'solid', `${name} shows that it is in focus`)
  }
  assert.fail(`Tab never reaches ${name}`)
}

test('an account is created by keyboard alone, with focus kept and restored', {
  skip,
}, async () => {
  await page.show('overview')
  await tabTo('Team')
  await page.pressKey('Enter')
  await page.waitUntil(`document.querySelector('main h1')?.innerText === 'Team'`)
  await page.waitUntil(`${buildRowsExpression('People')}.length === 1`)
  await tabTo('New person')
  await page.pressKey('Enter')
  await page.waitUntil(`document.querySelector('dialog[open]')`)
  for (let presses = 0; presses < 8; presses++) {
    await page.pressKey('Tab')
    const place = await page.evaluate<string>(
      `document.activeElement.closest('dialog') ? 'dialog' : document.activeElement.tagName`,
    )
    // After the last control, the focus can be on the browser's own controls.
    assert.match(place, /^(dialog|BODY)$/)
  }
  await page.pressKey('Escape')
  await page.waitUntil(`!document.querySelector('dialog')`)
  assert.equal(await page.evaluate(focused), 'New person')
  await page.pressKey('Space')
  await page.waitUntil(`document.querySelector('dialog[open]')`)
  await tabTo('Username')
  await page.type('kay')
  await page.pressKey('Enter')
  await page.waitForText('API key')
  await tabTo('Done')
  await page.pressKey('Enter')
  await page.waitUntil(`${buildRowsExpression('People')}.length === 2`)
  await tabTo('Change role of kay')
  await page.pressKey('Enter')
  await page.waitUntil(`document.querySelector('dialog[open]')`)
  await tabTo('Role')
  await page.pressKey('ArrowDown')
  await tabTo('Save')
  await page.pressKey('Enter')
  await page.waitUntil(
    `!document.querySelector('dialog') && ${buildRowsExpression('People')}.some(row => row.startsWith('kay maintainer'))`,
  )
  assert.equal(await page.evaluate(focused), 'Change role of kay')
})
