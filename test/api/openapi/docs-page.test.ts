import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { errorCodes } from '../../../src/errors/api-error.ts'
import { browserMissing, openPage, type Page } from '../../support/browser.ts'
import type { Node } from '../../support/conformance.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'

const skip = browserMissing ?? false

let api: TestApi
let page: Page
let document: Node

before(async () => {
  api = await startTestApi()
  document = (await api.sendRaw('/openapi.json')).json
  if (skip) return
  page = await openPage(api.baseUrl)
  await page.goTo(`${api.baseUrl}/docs/api`)
  await page.waitUntil(`document.querySelectorAll('a[href^="#tag/"]').length > 20`)
})

after(async () => {
  await page?.close()
  await api.stop()
})

test('the page shows every operation', { skip }, async () => {
  const links = await page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href^="#tag/"]')].map(link => decodeURI(link.getAttribute('href')))`,
  )
  const operations = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `/${method.toUpperCase()}${path}`),
  )
  const missing = operations.filter(operation => !links.some(link => link.endsWith(operation)))
  assert.deepEqual(missing, [])
})

/** Returns JavaScript that finds the navigation link of an operation, or its section. */
const toLink = (operation: string) => `document.querySelector('a[href$="GET${operation}"]')`
const toSection = (operation: string, method = 'GET') => `document.querySelector('[id$="/${method}${operation}"]')`

test('a reader can open an operation by its link', { skip }, async () => {
  await page.click(toLink('/customers/{id}'))
  await page.waitUntil(`${toSection('/customers/{id}')}?.innerText.includes('If-None-Match')`)
  await page.waitUntil(`Math.abs(${toSection('/customers/{id}')}.getBoundingClientRect().top) < innerHeight`)
})

for (const [link, method, operation] of [
  ['tag/orders/POST/orders', 'POST', '/orders'],
  ['tag/customers/PUT/customers/{id}', 'PUT', '/customers/{id}'],
] as const)
  test(`a deep link opens ${method} ${operation} without a blank page in between`, { skip }, async t => {
    const reader = await openPage(api.baseUrl, { slower: 2 })
    t.after(() => reader.close())
    await reader.goTo(`${api.baseUrl}/docs/api#${link}`)
    const visibleElements = `[0.3, 0.4, 0.5, 0.6].map(part => document.elementFromPoint(innerWidth * part, innerHeight / 2))`
    await reader.waitUntil(`${visibleElements}.some(element => ${toSection(operation, method)}?.contains(element))`)
    const { painted, viewer, blank } = await reader.evaluate<{ painted: number; viewer: number; blank: boolean }>(`({
      painted: performance.getEntriesByName('first-contentful-paint')[0].startTime,
      viewer: performance.getEntriesByType('navigation')[0].loadEventStart,
      blank: !${toSection(operation, method)}.innerText.trim(),
    })`)
    assert.ok(painted < viewer, `the first paint (${painted} ms) must come before the viewer (${viewer} ms)`)
    assert.equal(blank, false)
    assert.match((await api.sendRaw('/docs/api')).text, /<p [^>]*>The API reference is loading/)
    assert.doesNotMatch(await reader.evaluate('document.body.innerText'), /is loading/)
    assert.deepEqual(reader.pageErrors, [])
  })

test('a reader finds an operation by a word', { skip }, async () => {
  await page.click(`document.querySelector('.t-doc__sidebar button')`)
  await page.waitUntil(`document.activeElement?.tagName === 'INPUT'`)
  await page.type('voucher')
  await page.waitUntil(
    `[...document.querySelectorAll('[role="option"]')].some(option => /voucher/i.test(option.innerText))`,
  )
})

test('a request can be sent from the page to the service', { skip }, async () => {
  const toButton = (parent: string, label: string) =>
    `[...${parent}.querySelectorAll('button')].find(button => button.checkVisibility() && button.innerText.includes('${label}'))`
  await page.goTo(`${api.baseUrl}/docs/api`)
  await page.click(toLink('/health/live'))
  await page.waitUntil(toButton(`(${toSection('/health/live')} ?? document.body)`, 'Test Request'))
  await page.click(toButton(toSection('/health/live'), 'Test Request'))
  const dialog = `document.querySelector('[role="dialog"]')`
  await page.waitUntil(`${dialog} && ${toButton(dialog, 'Send')}`)
  await page.click(toButton(dialog, 'Send'))
  await page.waitUntil(`/200 OK[^]*"status": "live"/.test(${dialog}.innerText)`)
  assert.ok(page.requests.includes(`${api.baseUrl}/health/live`))
})

test('the page sends no request to another origin', { skip }, () => {
  const foreign = page.requests.filter(url => !url.startsWith(`${api.baseUrl}/`) && !url.startsWith('data:'))
  assert.deepEqual(foreign, [])
  assert.ok(page.requests.length >= 5, page.requests.join('\n'))
})

test('the browser console has no errors and no warnings', { skip }, () => {
  assert.deepEqual(page.pageErrors, [])
})

test("the page's policy forbids every other origin and the browser enforces it", { skip }, async t => {
  const { headers } = await api.sendRaw('/docs/api')
  assert.match(String(headers['content-security-policy']), /^default-src 'none';/)
  assert.doesNotMatch(String(headers['content-security-policy']), /https?:|\*/)
  const another = await openPage(api.baseUrl)
  t.after(() => another.close())
  await another.goTo(`${api.baseUrl}/docs/api`)
  const outcome = await another.evaluate(`fetch('https://example.com/').then(() => 'fetched', () => 'blocked')`)
  assert.equal(outcome, 'blocked')
  assert.match(another.pageErrors.join('\n'), /Content Security Policy/)
})

test('the address of all errors leads to their documentation', async () => {
  const { status, headers } = await api.sendRaw('/errors')
  assert.deepEqual([status, headers.location], [302, 'docs/reference/errors'])
  assert.equal((await api.sendRaw('/docs/reference/errors')).status, 200)
})

test('the page about an error allows only its own style', async () => {
  const { headers, text } = await api.sendRaw('/errors/invalid_cursor')
  const policy = String(headers['content-security-policy'])
  const style = /<style>(.*)<\/style>/s.exec(text)?.[1] ?? ''
  const digest = createHash('sha256').update(style).digest('base64')
  assert.equal(
    policy,
    `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
})

test('the page about an error is readable without scripts and styles', { skip }, async t => {
  const reader = await openPage(api.baseUrl)
  t.after(() => reader.close())
  await reader.goTo(`${api.baseUrl}/errors/invalid_cursor`)
  const pageText = await reader.evaluate<string>('document.body.innerText')
  for (const words of ['invalid_cursor', '400', errorCodes.invalid_cursor.title])
    assert.ok(pageText.includes(words), words)
  await reader.click(`document.querySelector('nav a[href="rate_limited"]')`)
  await reader.waitUntil(`document.querySelector('h1')?.innerText === 'rate_limited'`)
  assert.deepEqual(
    reader.requests.filter(url => !/\/(errors\/|favicon)/.test(url)),
    [],
  )
  assert.deepEqual(
    reader.pageErrors.filter(text => !/404/.test(text)),
    [],
  )
})

test('the viewer is cached until it changes', async () => {
  const viewer = await api.sendRaw('/docs/api/viewer.js')
  assert.equal(viewer.status, 200)
  assert.equal(viewer.headers['cache-control'], 'public, max-age=3600')
  assert.equal(viewer.headers['content-type'], 'text/javascript; charset=utf-8')
  assert.ok(viewer.text.length > 1_000_000)
  const again = await api.sendRaw('/docs/api/viewer.js', { headers: { 'if-none-match': viewer.headers.etag } })
  assert.deepEqual([again.status, again.text], [304, ''])
})

test('the icon is cached until it changes', async () => {
  const icon = await api.sendRaw('/docs/icon.svg')
  assert.deepEqual([icon.status, icon.headers['content-type']], [200, 'image/svg+xml'])
  assert.match(icon.text, /^<svg /)
  const again = await api.sendRaw('/docs/icon.svg', { headers: { 'if-none-match': icon.headers.etag } })
  assert.deepEqual([again.status, again.text], [304, ''])
})

test('an error page escapes its values', async () => {
  for (const code of Object.keys(errorCodes)) {
    const { text } = await api.sendRaw(`/errors/${code}`)
    const pageBody = text.replace(/<style>.*<\/style>/s, '')
    assert.doesNotMatch(
      pageBody,
      /&(?!(amp|lt|gt|quot|#39);)|<(?!\/?(!doctype|html|head|meta|title|body|main|p|b|h1|h2|code|a|nav|dl|dt|dd)\b)/i,
      code,
    )
    assert.doesNotMatch(pageBody, /(src|href)="(https?:)?\/\//, code)
  }
})
