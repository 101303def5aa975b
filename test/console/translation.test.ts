import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { buildCatalogue } from '../../scripts/texts/collect.ts'
import { assignRole } from '../../src/store/accounts/accounts.ts'
import { browserMissing } from '../support/browser.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { crawlScreens } from '../support/console/crawl.ts'
import { createSampleData, listRecordRoutes } from '../support/console/sample-data.ts'
import { cloneSmallDemoDatabase } from '../support/demo/demo-database.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { type Receiver, startReceiver } from '../support/webhooks/receiver.ts'

// Tests the console in an artificial language whose texts are longer and in brackets. A text without brackets is missing from the catalogue.

const skip = browserMissing ?? false
const language = 'en-XA'
let api: TestApi
let receiver: Receiver
let page: Console
/** The distinct string values of all responses. */
const data = new Set<string>()
/** The words of the short values, and all values as words. */
const dataWords = { short: new Set<string>(), all: '' }
/** The texts without brackets on each screen. */
const untranslated = new Map<string, string[]>()
/** The screens and texts that are wider than the window or their controls. */
const overflow: string[] = []

/** Puts each literal of a text in brackets, apart from its values and tags, and makes each word 40 % longer. */
const lengthen = (text: string) =>
  text.replace(
    /(\{\w+\}|`.*?`|<code>.*?<\/code>|<\/?\w+>)|([^{<`]+)/g,
    (_, mark?: string, literal = '') =>
      mark ??
      literal.replace(/\p{L}.*\p{L}|\p{L}/su, (words: string) => `⟦${words.replace(/\p{L}+/gu, lengthenWord)}⟧`),
  )
const lengthenWord = (word: string) => word + '~'.repeat(Math.ceil(0.4 * word.length))

const translate = (translation: object | string): object | string =>
  typeof translation === 'string'
    ? lengthen(translation)
    : Object.fromEntries(Object.entries(translation).map(([form, text]) => [form, lengthen(text)]))

const texts = Object.fromEntries(Object.entries(buildCatalogue()).map(([key, text]) => [key, translate(text)]))

before(async () => {
  if (skip) return
  const environment = { WEBHOOK_NETWORKS: '127.0.0.0/8' }
  api = await startTestApi({ database: await cloneSmallDemoDatabase(), environment })
  receiver = await startReceiver()
  const secondCaller = await api.createService()
  await assignRole(api.db, api.username, secondCaller.service, 'admin')
  const routes = listRecordRoutes(await createSampleData(api, receiver))
  const { text: html, headers } = await api.sendRaw('/console')
  page = await openConsole(api, api, {}, async openedPage => {
    await openedPage.serve(/\/console$/, {
      headers: headers as Record<string, string>,
      body: html.replace('<html lang="en">', `<html lang="${language}">`),
    })
    await openedPage.serve(new RegExp(`/texts/${language}\\.js$`), {
      headers: { 'content-type': 'text/javascript' },
      body: `export const texts = ${JSON.stringify(texts)}`,
    })
  })
  await crawlScreens(page, routes, async route => {
    const visible = await page.evaluate<string[]>(visibleTexts)
    addData([
      ...(await readData()),
      ...[api.username, api.service.name, secondCaller.service.name, api.service.settings.retailerName],
    ])
    // The audit log splits the names of fields.
    const isField = (text: string) => route.startsWith('audit') && text === 'Ecommerce sku'
    untranslated.set(
      route,
      visible
        .map(text => text.replace(identifiers, '').replace(/⟦[^⟦⟧]*⟧/g, '\n'))
        .flatMap(text => text.split('\n').filter(part => !isData(part) && !isField(part))),
    )
    await addOverflow(route)
  })
})
after(async () => {
  await page?.close()
  await api?.stop()
  await receiver?.close()
})

/** All visible texts and the texts for screen readers. Code and the values of inputs are data. */
const visibleTexts = `(() => {
  const texts = []
  const walker = document.createTreeWalker(document.querySelector('#console'), NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const { parentElement: parent, data } = walker.currentNode
    const isPart = parent.querySelector(':scope > code') && !/\\s/.test(data.trim())
    if (data.trim() && !isPart && parent.checkVisibility() && !parent.closest('code, kbd, pre, .brand')) texts.push(data)
  }
  for (const element of document.querySelectorAll('#console [title], #console [aria-label], #console [placeholder]'))
    if (!element.matches('time')) texts.push(...['title', 'aria-label', 'placeholder'].map(name => element.getAttribute(name) ?? ''))
  return texts
})()`

/** Returns the string values of the API responses and generated modules that the page has requested since the last call. */
async function readData(): Promise<string[]> {
  const urls = page.requests
    .splice(0)
    .filter(
      url =>
        url.startsWith(api.baseUrl) &&
        /\/packages\/(remedies|settings|import-types|changes|mappings|operations)\.js$|^(?!.*\/(console\/[\w-]{16}|docs|session)\/)/.test(
          url,
        ),
    )
  const bodies = await page.evaluate<string[]>(`Promise.all(${JSON.stringify([...new Set(urls)])}.map(
    url => fetch(url, { headers: { accept: 'application/json', 'x-service-name': ${JSON.stringify(api.service.name)} } }).then(response => response.text())))`)
  return bodies.flatMap(body =>
    [...body.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([literal]) => {
      try {
        return String(JSON.parse(literal))
      } catch {
        return ''
      }
    }),
  )
}

/** Words that are the same in all languages: formats of dates, units, file formats and products. */
const international = new Set(
  'Jan Feb Mar Apr May Jun Jul Aug Sep Sept Oct Nov Dec January February March April June July August September October November December UTC GMT AEDT AEST ms KB MB GB CSV SKU Tillbridge Shopify Medusa'.split(
    ' ',
  ),
)

/** Identifiers are data, but some are missing from the responses, because the browser generates them. */
const identifiers = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

const splitWords = (text: string) => text.match(/[\p{L}\d]+/gu) ?? []

function addData(values: readonly string[]) {
  for (const value of values) {
    if (data.has(value)) continue
    data.add(value)
    const words = splitWords(value)
    if (value.length <= 60) for (const word of words) dataWords.short.add(word)
    dataWords.all += ` ${words.join(' ')} \n`
  }
}

/** True if a text is data: a part of a value, or only words of short values. */
function isData(text: string) {
  const words = splitWords(text)
  const long = words.filter(word => /\p{L}{2}/u.test(word))
  return (
    long.every(word => dataWords.short.has(word) || international.has(word)) ||
    (long.length > 1 && dataWords.all.includes(` ${words.join(' ')} `))
  )
}

test('each text on each screen comes from the catalogue', { skip }, () => {
  assert.ok(untranslated.size > 35, `${untranslated.size} screens`)
  const problems = [...untranslated].filter(([, parts]) => parts.length > 0)
  assert.deepEqual(
    problems.map(([route, parts]) => `${route}: ${[...new Set(parts)].join(' | ')}`),
    [],
  )
  assert.deepEqual(page.pageErrors, [])
})

/** Finds the controls whose text is wider than the control. */
const findOverflow = `[...document.querySelectorAll('nav a, main :is(button, .button, summary, label > span, legend, h1, h2, h3, dt, th)')]
  // A cut header of a column has its whole text as a tooltip. A hidden heading is only for screen readers.
  .filter(element => !element.closest('.data [title], .hidden') && element.checkVisibility() && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline')
  .map(element => element.tagName + ' ' + element.textContent)`

/** Finds the last three texts that end outside the window. */
const findWidest = `(() => {
  const texts = []
  const range = document.createRange()
  const walker = document.createTreeWalker(document.querySelector('#console'), NodeFilter.SHOW_ALL)
  while (walker.nextNode()) {
    range.selectNode(walker.currentNode)
    if (range.getBoundingClientRect().right > innerWidth + 1) texts.push(walker.currentNode.nodeName + ': ' + walker.currentNode.textContent.slice(0, 60))
  }
  return texts.slice(-3)
})()`

async function addOverflow(route: string) {
  // Changes the width of the open screen, because opening each one again takes most of the CPU.
  for (const width of [390, 1360]) {
    await page.setAppearance({ width, height: 800 })
    await page.evaluate('new Promise(requestAnimationFrame)')
    const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
    if (isTooWide) overflow.push(`${route} is too wide at ${width}: ${await page.evaluate<string[]>(findWidest)}`)
    for (const control of await page.evaluate<string[]>(findOverflow)) overflow.push(`${route} at ${width}: ${control}`)
  }
}

test('longer texts fit into their controls', { skip }, () => {
  assert.deepEqual(overflow, [])
})
