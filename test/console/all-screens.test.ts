import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { createLink } from '../../src/auth/sessions.ts'
import type { Role } from '../../src/domain/accounts.ts'
import { assignRole } from '../../src/store/accounts/accounts.ts'
import { callOperation, listOperations } from '../api/access/documented.ts'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { crawlScreens, openScreen, screens } from '../support/console/crawl.ts'
import { createSampleData, listRecordRoutes } from '../support/console/sample-data.ts'
import { cloneSmallDemoDatabase } from '../support/demo/demo-database.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { type Receiver, startReceiver } from '../support/webhooks/receiver.ts'

// Tests requirements of every screen and of every record page that links lead to, including future ones.

const skip = browserMissing ?? false
let api: TestApi
let receiver: Receiver
/** The admin of a second service, which is assigned to each account. */
let secondCaller: Caller
let page: Console
/** The text, buttons, table captions and requested paths of each screen of an admin. */
const screenByRoute = new Map<string, { text: string; buttons: string[]; tables: string[]; requests: string[] }>()
const listRoutes = () => [...screenByRoute.keys()]

/** All buttons except those that sort and filter a table. */
const buttons = `[...document.querySelectorAll('main button:not(th button, .chips button)')].map(button => button.innerText)`

before(async () => {
  if (skip) return
  const environment = { WEBHOOK_NETWORKS: '127.0.0.0/8' }
  api = await startTestApi({ database: await cloneSmallDemoDatabase(), environment })
  receiver = await startReceiver()
  secondCaller = await api.createService()
  await assignRole(api.db, api.username, secondCaller.service, 'admin')
  const routes = listRecordRoutes(await createSampleData(api, receiver))
  page = await openConsole(api, api)
  await crawlScreens(page, routes, async route => {
    const tables = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main caption')].map(caption => caption.innerText)`,
    )
    const requests = page.requests.splice(0).filter(url => url.startsWith(api.baseUrl))
    assert.deepEqual(page.pageErrors, [], `${route}: ${requests}`)
    screenByRoute.set(route, {
      text: await page.evaluate<string>(`document.querySelector('main').innerText`),
      buttons: await page.evaluate<string[]>(buttons),
      tables,
      // The frame of every screen requests the health.
      requests: requests
        .map(url => url.slice(api.baseUrl.length))
        .filter(path => !/^\/((console|docs)\/|health$)/.test(path)),
    })
  })
})
after(async () => {
  await page?.close()
  await api?.stop()
  await receiver?.close()
})

test('the tested screens include all screens that they link to', { skip }, () => {
  const kinds = listRoutes().map(route => route.split('/').slice(0, 2).join('/'))
  const records = ['customer', 'order', 'return', 'sale', 'product', 'store', 'voucher'].map(kind => `search/${kind}`)
  for (const kind of [...screens.map(({ path }) => path), ...records, 'mappings/skus', 'mappings/fixes'])
    assert.ok(kinds.includes(kind), `${kind} is not among ${listRoutes().join(', ')}`)
})

/** The pixels by which the screen is wider than the window. */
const overflow = 'document.documentElement.scrollWidth - innerWidth'

test('no screen is wider than a wide window', { skip }, async t => {
  t.after(() => page.setAppearance({}))
  await page.setAppearance({ width: 3840, height: 800 })
  for (const route of listRoutes()) {
    await openScreen(page, route)
    assert.ok((await page.evaluate<number>(overflow)) <= 0, route)
  }
  assert.deepEqual(page.pageErrors, [])
})

/** Finds controls that are too low for a finger. A checkbox, a switch or a file input is one control with its label. */
const findSmallControls = `[...document.querySelectorAll('header :is(button, select, input), nav a, main :is(button, select, input, textarea, summary, .button)')]
  .map(control => control.closest('label.tick, label.button, .switch') ?? control).filter(control => control.checkVisibility() && control.getBoundingClientRect().height < 40)
  .map(control => control.className + ' ' + (control.ariaLabel ?? control.innerText) + ' ' + control.getBoundingClientRect().height)`

test('on a phone, screens fit, and are accessible in dark colours', { skip }, async t => {
  t.after(() => page.setAppearance({}))
  for (const route of listRoutes()) {
    await page.setAppearance({ width: 320, height: 800, colours: 'dark' })
    await openScreen(page, route)
    assert.ok((await page.evaluate<number>(overflow)) <= 0, `${route} is too wide at 320`)
    await page.setAppearance({ width: 390, height: 800, colours: 'dark' })
    assert.deepEqual(await page.evaluate<string[]>(findSmallControls), [], route)
    const isUneven = `[...document.querySelectorAll('main .cards')].some(
      ({ scrollWidth, clientWidth, firstElementChild: table }) => scrollWidth > clientWidth + 1 || table.clientWidth < clientWidth - 1)`
    assert.equal(await page.evaluate(isUneven), false, `${route} has a table that is wider or narrower than its frame`)
    // The tests of single screens check the light theme.
    await assertAccessible(page, `${route} at 390`)
  }
  assert.deepEqual(page.pageErrors, [])
})

test('times have one format on all screens', { skip }, async () => {
  for (const [route, { text }] of screenByRoute) assert.doesNotMatch(text, /\d{4}-\d\d-\d\d[ T]\d\d:\d\d/, route)
  await openScreen(page, 'audit')
  const [title, time] = await page.evaluate<string[]>(`[...document.querySelectorAll('th, td')]
    .filter(cell => cell.cellIndex === 0).slice(0, 2).map(cell => cell.innerText)`)
  assert.match(`${title}: ${time}`, /^Time \([A-Z]{3,4}\): \d\d? [A-Z][a-z]{2} \d{4}, \d\d:\d\d$/)
})

test('stacked bars begin at the base line of their chart', { skip }, async () => {
  await openScreen(page, 'requests')
  await page.waitUntil(`document.querySelector('.bars.stacked .column')`)
  const gaps = await page.evaluate<number[]>(`[...document.querySelectorAll('.bars.stacked > div:has(.column)')].map(
    bar => bar.getBoundingClientRect().bottom - bar.querySelector('.column').getBoundingClientRect().bottom)`)
  assert.ok(gaps.length > 1 && gaps.every(gap => gap < 2), String(gaps))
})

interface Table {
  caption: string
  /** True if only the first rows are shown. */
  isTruncated: boolean
  titles: string[]
  /** The text of each cell; null if it contains a button or picture. */
  rows: (string | null)[][]
}
/** The tables of the screen. Leaves out the grid of a product's stock, because the list of stock has a CSV instead. */
const tables = `[...document.querySelectorAll('main table:not(.grid)')].map(table => ({
  caption: table.caption.innerText,
  isTruncated: Boolean(table.closest('section').querySelector('.more, .spacer')),
  titles: [...table.querySelectorAll('th')].map(cell => cell.innerText.replace(/ [↑↓]$/, '')),
  rows: [...table.querySelectorAll('tbody tr:not(.spacer)')].map(row => [...row.cells].map(cell =>
    cell.querySelector('button, svg') ? null : cell.querySelector(':scope > .none') ? '' : cell.innerText.trim())),
}))`

/** Returns the columns that aren't empty, with the number of filled cells. */
const listFilledColumns = ({ titles, rows }: Pick<Table, 'titles' | 'rows'>) =>
  titles.map((title, i) => ({ title, rows: rows.filter(row => row[i]).length })).filter(column => column.rows > 0)

/** Reads the captions of all tables from the console's source: `Stock of {sku} by store`. */
async function readCaptions() {
  const folder = new URL('../../console/pages/', import.meta.url)
  // screens.test.ts and mappings.test.ts test these dialogs.
  const dialogs = ['accounts/keys.js', 'mappings/accept.js']
  const files = (await readdir(folder, { recursive: true })).filter(
    name => name.endsWith('.js') && !dialogs.includes(name),
  )
  const sources = await Promise.all(files.map(name => readFile(new URL(name, folder), 'utf8')))
  return sources.flatMap(source =>
    [...source.matchAll(/ caption=(?:"(.+?)"|\$\{t\('(.+?)'[,)])/g)].map(
      ([, plain, template = '']) => plain ?? template,
    ),
  )
}

test('each console table is on a tested screen', { skip }, async () => {
  const rendered = [...screenByRoute.values()].flatMap(({ tables: screenTables }) => screenTables)
  const declared = await readCaptions()
  assert.ok(declared.length > 15, declared.join(', '))
  for (const caption of declared) {
    const [begin = '', end = ''] = [caption.split('{')[0], caption.split('}').at(-1)]
    const matches = (text: string) =>
      caption.includes('{') ? text.startsWith(begin) && text.endsWith(end) : text === caption
    assert.ok(rendered.some(matches), `${caption} is not among ${rendered}`)
  }
})

test('each table has a CSV with all columns and rows', { skip }, async () => {
  for (const route of listRoutes().filter(listed => screenByRoute.get(listed)?.tables.length)) {
    await openScreen(page, route)
    for (const table of await page.evaluate<Table[]>(tables)) {
      const { caption, isTruncated, rows } = table
      const [titles = [], ...lines] = parse(await page.exportCsv(caption), { bom: true }) as string[][]
      const message = `${route}: ${caption}`
      // Opening the screen adds requests to the log.
      const grows = caption.startsWith('Requests')
      assert.ok(
        isTruncated || grows ? lines.length > rows.length - Number(grows) : lines.length === rows.length,
        message,
      )
      // This CSV has the column names of an import of mappings.
      if (titles.includes('evidence')) continue
      for (const column of listFilledColumns(table)) {
        const exported = listFilledColumns({ titles, rows: lines }).find(({ title }) => title.startsWith(column.title))
        assert.ok(exported, `${message} has no ${column.title}: ${titles}`)
        if (!isTruncated && !grows) assert.equal(exported.rows, column.rows, `${message}, ${column.title}`)
      }
    }
  }
})

/** The lowest role that sees a button that changes something. Default: admin. */
const writeRoles: Partial<Record<string, Role>> = {
  Resolve: 'maintainer',
  'Sync now': 'maintainer',
  'Full sync': 'maintainer',
  'Create return': 'maintainer',
  Receive: 'maintainer',
  'Edit consent': 'maintainer',
  'Change buffer': 'admin',
  Suspend: 'admin',
  Resend: 'admin',
  'Add a second factor': 'visitor',
}
/** Buttons that change nothing. */
const readButtons = ['Search', 'Open', 'Refresh', 'Show more', 'Export CSV', 'Download', 'Template', 'Copy']

const roles = ['visitor', 'maintainer', 'admin']
const includesRole = (role: Role, required: Role = 'admin') => roles.indexOf(role) >= roles.indexOf(required)
const findScreen = (route: string) => screens.find(({ path }) => path === route.split(/[/?]/)[0])

for (const role of ['visitor', 'maintainer'] as const)
  test(`a ${role} sees the screens of a ${role} and nothing more`, {
    skip,
  }, async () => {
    const caller = await api.createAccount(role)
    await assignRole(api.db, caller.username, secondCaller.service, role)
    const session = await signIn(caller)
    const open = screens.filter(screen => includesRole(role, screen.role))
    assert.deepEqual(
      await page.evaluate(`[...document.querySelectorAll('nav a')].map(link => link.firstChild.textContent)`),
      open.map(({ title }) => title),
    )
    for (const route of listRoutes()) {
      await openScreen(page, route)
      const { buttons: adminButtons = [], requests = [] } = screenByRoute.get(route) ?? {}
      const responses = await Promise.all(requests.map(path => session.get(path)))
      const rejected = responses.filter(({ json }) => json?.code === 'insufficient_role')
      if (includesRole(role, findScreen(route)?.role)) {
        const isWriting = (button: string) => !readButtons.includes(button)
        const expected = adminButtons.filter(button => isWriting(button) && includesRole(role, writeRoles[button]))
        assert.deepEqual((await page.evaluate<string[]>(buttons)).filter(isWriting), expected, route)
      } else {
        const title = `No access to ${findScreen(route)?.title}`
        assert.equal(await page.evaluate(`document.querySelector('main h1').innerText`), title, route)
        assert.ok(rejected.length > 0 || requests.length === 0, `${route} requests ${requests}`)
      }
    }
    for (const operation of listOperations((await api.sendRaw('/openapi.json')).json)) {
      const response = await callOperation(session, operation)
      const isRejected = response.json?.code === 'insufficient_role'
      const required = isRejected ? /`(\w+)`/.exec(response.json.detail)?.[1] : role
      assert.equal(isRejected, !includesRole(role, required as Role), operation.id)
      if (role === 'visitor') assert.equal(isRejected, operation.role !== 'visitor', operation.id)
    }
  })

/** Signs in another account, in the browser and for direct requests. */
async function signIn(caller: Caller): Promise<Caller> {
  const link = async () => createLink(api.db, api.keys, caller.username)
  await page.goTo('about:blank')
  await page.goTo(`${api.baseUrl}/console#link=${await link()}`)
  await page.waitUntil(`document.querySelector('.who')?.innerText.startsWith(${JSON.stringify(caller.username)})`)
  const ownHeaders = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
  const { headers } = await api.sendRaw('/console/session/link', {
    method: 'POST',
    headers: ownHeaders,
    body: JSON.stringify({ link: await link() }),
  })
  const cookie = String(headers['set-cookie']).split(';', 1)[0]
  const request: Caller['request'] = (path, options = {}) =>
    api.sendRaw(path, {
      ...options,
      headers: { ...options.headers, ...ownHeaders, cookie, 'x-service-name': caller.service.name },
    })
  return { ...caller, request, get: path => request(path) }
}
