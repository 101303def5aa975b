import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { errorCodes } from '../../../src/errors/api-error.ts'
import { listSitePages } from '../../../src/http/docs/site.ts'
import { browserMissing, openPage, type Page } from '../../support/browser.ts'
import { assertAccessible } from '../../support/console/axe.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'

const skip = browserMissing ?? false
const root = fileURLToPath(new URL('../../../', import.meta.url))

let api: TestApi
let page: Page

before(async () => {
  api = await startTestApi()
  if (!skip) page = await openPage(api.baseUrl)
})
after(async () => {
  await page?.close()
  await api.stop()
})

const toAddress = (path: string) => (path ? `/docs/${path}` : '/docs')

test('the table of contents lists each document once', async () => {
  const pages = await listSitePages()
  const documents = globSync('docs/**/*.md', { cwd: root }).map(file => file.slice('docs/'.length, -'.md'.length))
  assert.deepEqual(
    documents.filter(document => document !== 'index' && !pages.includes(document)),
    [],
  )
  assert.deepEqual([...new Set(pages)], pages)
})

test('every link and anchor of a page leads somewhere', async () => {
  const pages = new Map<string, string>()
  for (const path of await listSitePages()) {
    const { status, headers, text } = await api.sendRaw(toAddress(path))
    assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], path)
    pages.set(toAddress(path), text)
  }
  for (const code of Object.keys(errorCodes)) pages.set(`/errors/${code}`, (await api.sendRaw(`/errors/${code}`)).text)
  const targets = new Map<string, string>()
  for (const [address, text] of pages)
    for (const [, target = ''] of text.matchAll(/ (?:href|src|data-copy)="([^"]+)"/g)) {
      const url = new URL(target, `${api.baseUrl}${address}`)
      if (url.origin === api.baseUrl) targets.set(url.href, address)
      else assert.match(target, /^https:\/\//, `${address}: ${target}`)
    }
  assert.ok(targets.size > 300, String(targets.size))
  const broken: string[] = []
  const fetched = new Set<string>()
  for (const [target, from] of targets) {
    const { pathname, hash } = new URL(target)
    const text = pages.get(pathname)
    if (text === undefined && !fetched.has(pathname)) {
      fetched.add(pathname)
      const { status } = await api.sendRaw(pathname, { method: 'HEAD' })
      if (status !== 200) broken.push(`${from}: ${target}: ${status}`)
    }
    if (hash && text !== undefined && !text.includes(` id="${decodeURIComponent(hash.slice(1))}"`))
      broken.push(`${from}: ${target}: no such anchor`)
  }
  assert.deepEqual(broken, [])
})

test('a page is compressed, cacheable and limited to its origin', async () => {
  for (const path of ['/docs', '/docs/shop/checkout', '/docs/site.css', '/docs/site.js', '/llms-full.txt']) {
    const { headers } = await api.sendRaw(path, { headers: { 'accept-encoding': 'gzip' } })
    assert.equal(headers['content-encoding'], 'gzip', path)
    const again = await api.sendRaw(path, {
      headers: { 'accept-encoding': 'gzip', 'if-none-match': String(headers.etag) },
    })
    assert.deepEqual([again.status, again.text], [304, ''], path)
  }
  const { headers } = await api.sendRaw('/docs/shop/checkout')
  assert.match(String(headers['content-security-policy']), /^default-src 'none'; script-src 'self'; style-src 'self';/)
  assert.doesNotMatch(String(headers['content-security-policy']), /unsafe|https?:|\*/)
})

test('every page is also Markdown', async () => {
  for (const path of await listSitePages()) {
    const { status, headers, text } = await api.sendRaw(`/docs/${path || 'index'}.md`)
    assert.deepEqual([status, headers['content-type']], [200, 'text/markdown; charset=utf-8'], path)
    assert.match(text, /^# \w/m, path)
  }
})

test('language models get instructions and all pages', async () => {
  const { text } = await api.sendRaw('/llms.txt')
  assert.match(text, /^# Tillbridge\n\n> .+\n\n## Instructions\n\n- /)
  for (const path of await listSitePages())
    assert.ok(!path || text.includes(`](${api.baseUrl}/docs/${path}.md): `), `${path} or its description is missing`)
  const full = (await api.sendRaw('/llms-full.txt')).text
  for (const path of await listSitePages())
    assert.ok(full.includes(`<!-- ${api.baseUrl}/docs/${path || 'index'}.md -->`), path)
})

test('agents find the workflows', async () => {
  const path = '/docs/workflows.arazzo.yaml'
  assert.ok((await api.sendRaw('/llms.txt')).text.includes(`${api.baseUrl}${path}`))
  const { status, headers, text } = await api.sendRaw(path)
  assert.deepEqual([status, headers['content-type']], [200, 'application/yaml; charset=utf-8'])
  assert.match(text, /^arazzo: 1/m)
  const { pathname } = new URL(/url: (\S+)/.exec(text)?.[1] ?? '', `${api.baseUrl}${path}`)
  assert.equal(pathname, '/openapi.json')
})

test('unknown pages and files outside the documents are 404', async () => {
  for (const path of [
    '/docs/nope',
    '/docs/nope.md',
    '/docs/images/nope.png',
    '/docs/..%2fpackage.json',
    '/docs/__proto__',
  ])
    assert.equal((await api.sendRaw(path)).status, 404, path)
  const { status, headers } = await api.sendRaw('/docs/shop/checkout/')
  assert.deepEqual([status, headers.location], [308, '/docs/shop/checkout'])
})

test('a first visit loads at most 300 KB', { skip }, async () => {
  await page.clearCache()
  await page.goTo(`${api.baseUrl}/docs`)
  await page.waitUntil(`!document.querySelector('search').hidden`)
  const bytes = await page.evaluate<number>(
    `['navigation', 'resource'].flatMap(type => performance.getEntriesByType(type)).reduce((sum, entry) => sum + entry.transferSize, 0)`,
  )
  assert.ok(bytes > 2_000 && bytes <= 300_000, `${bytes} bytes`)
})

test('a reader finds a page by its words', { skip }, async () => {
  await page.goTo(`${api.baseUrl}/docs/shop/checkout`)
  await page.pressKey('Tab')
  await page.evaluate(`document.getElementById('query').focus()`)
  await page.type('outcome_unknown retry')
  await page.waitUntil(`document.querySelector('#results li a')`)
  await assertAccessible(page, 'search results')
  await page.click(
    `[...document.querySelectorAll('#results a')].find(link => link.innerText.startsWith('Handle errors'))`,
  )
  await page.waitUntil(`location.pathname === '/docs/shop/errors-and-retries'`)
  assert.deepEqual(page.pageErrors, [])
})

test('pages are accessible in light, dark and on a phone', { skip }, async () => {
  for (const path of ['', 'shop/checkout', 'operate/console', 'reference/cli'])
    for (const appearance of [
      { width: 1440, height: 900, colours: 'light' },
      { width: 1440, height: 900, colours: 'dark' },
      { width: 390, height: 800, colours: 'light' },
    ] as const) {
      await page.setAppearance(appearance)
      await page.goTo(`${api.baseUrl}${toAddress(path)}`)
      await page.waitUntil(`!document.querySelector('search').hidden`)
      await assertAccessible(page, `${path} ${JSON.stringify(appearance)}`)
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      assert.ok(overflow <= 0, `${path} is ${overflow} px wider than ${appearance.width} px`)
    }
  const foreign = page.requests.filter(url => !url.startsWith(`${api.baseUrl}/`))
  assert.deepEqual([foreign, page.pageErrors], [[], []])
})
