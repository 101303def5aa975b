import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { createLink } from '../../src/auth/sessions.ts'
import type { Role } from '../../src/domain/accounts.ts'
import { ask, operationsOf } from '../api/access/documented.ts'
import { browserMissing } from '../support/browser.ts'
import { isAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { everyPlace, lookAt, screens } from '../support/console/crawl.ts'
import { spendMorning } from '../support/console/sample-data.ts'
import { cloneSmallDemoDatabase } from '../support/demo/demo-database.ts'
import { type Caller, startTestService, type TestService } from '../support/service.ts'
import { type Receiver, startReceiver } from '../support/webhooks/receiver.ts'

// What holds of each place of the console, of a new one too: its screens, and what their links lead to.

const skip = browserMissing ?? false
let shop: TestService
let receiver: Receiver
let page: Console
/** What an admin finds at each place: what can be pressed, which tables there are, what is asked of the API. */
const found = new Map<string, { buttons: string[]; tables: string[]; asked: string[] }>()
const places = () => [...found.keys()]

const buttons = `[...document.querySelectorAll('main button')].map(button => button.innerText)`

before(async () => {
  if (skip) return
  const environment = { WEBHOOK_NETWORKS: '127.0.0.0/8' }
  shop = await startTestService({ database: await cloneSmallDemoDatabase(), environment })
  receiver = await startReceiver()
  const { customer, sku, voucher, request, webhook } = await spendMorning(shop, receiver)
  page = await openConsole(shop, shop)
  const further = [
    'syncs/stock',
    `search/customer/${customer}`,
    `search/product/${encodeURIComponent(`sku:${sku}`)}`,
    `search/voucher/${voucher}`,
    `requests/${request}`,
    `webhooks/${webhook}`,
  ]
  await everyPlace(page, further, async place => {
    const tables = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main caption')].map(caption => caption.innerText)`,
    )
    const asked = page.requests.splice(0).filter(url => url.startsWith(shop.baseUrl))
    assert.deepEqual(page.complaints, [], `${place}: ${asked}`)
    found.set(place, {
      buttons: await page.evaluate<string[]>(buttons),
      tables,
      asked: asked.map(url => url.slice(shop.baseUrl.length)).filter(path => !/^\/(console|docs)\//.test(path)),
    })
  })
})
after(async () => {
  await page?.close()
  await shop?.stop()
  await receiver?.close()
})

test('the tested screens include all screens that they link to', { skip }, () => {
  const kinds = places().map(place => place.split('/').slice(0, 2).join('/'))
  const records = ['customer', 'order', 'return', 'sale', 'product', 'voucher'].map(kind => `search/${kind}`)
  for (const kind of [...screens.map(({ path }) => path), ...records, 'mappings/check', 'mappings/fixes'])
    assert.ok(kinds.includes(kind), `${kind} is not among ${places().join(', ')}`)
})

test('every screen is complete and accessible in both themes at all widths', {
  skip,
}, async t => {
  t.after(() => page.appear({}))
  for (const [width, colours] of [
    [320, 'dark'],
    [3840, 'light'],
  ] as const) {
    await page.appear({ width, height: 800, colours })
    for (const place of places()) {
      await lookAt(page, place)
      const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      assert.ok(over <= 0, `${place} is ${over} pixels too wide at ${width}`)
      // Light ones are looked at where each screen has its test.
      if (colours === 'dark') await isAccessible(page, `${place} at ${width}`)
    }
  }
  assert.deepEqual(page.complaints, [])
})

interface Table {
  caption: string
  /** Whether there are more rows than are shown. */
  isCut: boolean
  titles: string[]
  /** Cells; null where there is something to press, or to look at, and no text. */
  rows: (string | null)[][]
}
const tables = `[...document.querySelectorAll('main table')].map(table => ({
  caption: table.caption.innerText,
  isCut: Boolean(table.closest('section').querySelector('.more')),
  titles: [...table.querySelectorAll('th')].map(cell => cell.innerText),
  rows: [...table.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell =>
    cell.querySelector('button, svg') ? null : cell.querySelector(':scope > .none') ? '' : cell.innerText.trim())),
}))`

/** A column that says something, and in how many of these rows it does. */
const told = ({ titles, rows }: Pick<Table, 'titles' | 'rows'>) =>
  titles.map((title, i) => ({ title, rows: rows.filter(row => row[i]).length })).filter(column => column.rows > 0)

/** What the tables of the console are called, by its modules: `Stock of ${sku} by store`. */
async function captions() {
  const folder = new URL('../../console/pages/', import.meta.url)
  const files = (await readdir(folder, { recursive: true })).filter(name => name.endsWith('.js'))
  const sources = await Promise.all(files.map(name => readFile(new URL(name, folder), 'utf8')))
  return sources.flatMap(source =>
    [...source.matchAll(/ caption=(?:"(.+?)"|\$\{`(.+?)`\}\n?)/g)].map(([, plain, made = '']) => plain ?? made),
  )
}

test('each console table is on a tested screen', { skip }, async () => {
  const seen = [...found.values()].flatMap(({ tables }) => tables)
  const called = await captions()
  assert.ok(called.length > 15, called.join(', '))
  for (const caption of called) {
    const [begin = '', end = ''] = [caption.split('${')[0], caption.split('}').at(-1)]
    const isIt = (each: string) =>
      caption.includes('${') ? each.startsWith(begin) && each.endsWith(end) : each === caption
    assert.ok(seen.some(isIt), `${caption} is not among ${seen}`)
  }
})

test('each table has a CSV with all columns and rows', { skip }, async () => {
  for (const place of places().filter(each => found.get(each)?.tables.length)) {
    await lookAt(page, place)
    for (const table of await page.evaluate<Table[]>(tables)) {
      const { caption, isCut, rows } = table
      const [titles = [], ...lines] = parse(await page.exported(caption), { bom: true }) as string[][]
      const what = `${place}: ${caption}`
      // Each look at them is one more.
      const grows = caption.startsWith('Requests')
      assert.ok(isCut || grows ? lines.length > rows.length - Number(grows) : lines.length === rows.length, what)
      // The doctor's goes into an import of mappings, and is called what that calls it.
      if (titles.includes('evidence')) continue
      for (const column of told(table)) {
        const saved = told({ titles, rows: lines }).find(({ title }) => title.startsWith(column.title))
        assert.ok(saved, `${what} has no ${column.title}: ${titles}`)
        if (!isCut && !grows) assert.equal(saved.rows, column.rows, `${what}, ${column.title}`)
      }
    }
  }
})

/** Which buttons change something, by what stands on them, and who may. */
const writing: Partial<Record<string, Role>> = {
  Resolve: 'maintainer',
  'Pull changes': 'maintainer',
  'Pull everything': 'maintainer',
  Suspend: 'admin',
  Resend: 'admin',
}
/** And which do not. */
const reading = ['Look up', 'Open', 'Refresh', 'Show more', 'Export CSV']

const ladder = ['visitor', 'maintainer', 'admin']
const reaches = (role: Role, needed: Role = 'admin') => ladder.indexOf(role) >= ladder.indexOf(needed)
const screenAt = (place: string) => screens.find(({ path }) => path === place.split('/')[0])

for (const role of ['visitor', 'maintainer'] as const)
  test(`a ${role} sees the screens of a ${role} and nothing more`, {
    skip,
  }, async () => {
    const caller = await shop.createAccount(role)
    const session = await signIn(caller)
    const open = screens.filter(screen => reaches(role, screen.role))
    assert.deepEqual(
      await page.evaluate(`[...document.querySelectorAll('nav a')].map(link => link.innerText)`),
      open.map(({ title }) => title),
    )
    for (const place of places()) {
      await lookAt(page, place)
      const { buttons: admins = [], asked = [] } = found.get(place) ?? {}
      const answers = await Promise.all(asked.map(path => session.get(path)))
      const rejected = answers.filter(({ json }) => json?.code === 'insufficient_role')
      if (reaches(role, screenAt(place)?.role)) {
        const isWriting = (button: string) => !reading.includes(button)
        const theirs = admins.filter(button => isWriting(button) && reaches(role, writing[button]))
        assert.deepEqual((await page.evaluate<string[]>(buttons)).filter(isWriting), theirs, place)
      } else {
        assert.equal(await page.evaluate(`document.querySelector('main h1').innerText`), 'Overview', place)
        assert.ok(rejected.length > 0 || asked.length === 0, `${place} asks ${asked}`)
      }
    }
    for (const operation of operationsOf((await shop.sendRaw('/openapi.json')).json)) {
      const answer = await ask(session, operation)
      const isRefused = answer.json?.code === 'insufficient_role'
      const needed = isRefused ? /`(\w+)`/.exec(answer.json.detail)?.[1] : role
      assert.equal(isRefused, !reaches(role, needed as Role), operation.id)
      if (role === 'visitor') assert.equal(isRefused, operation.forbidden.includes('insufficient_role'), operation.id)
    }
  })

/** Signs somebody in where somebody else was; what they ask with the session. */
async function signIn(caller: Caller): Promise<Caller> {
  const link = async () => createLink(shop.db, shop.keys, caller.username)
  await page.goTo('about:blank')
  await page.goTo(`${shop.baseUrl}/console#link=${await link()}`)
  await page.until(`document.querySelector('.who')?.innerText.startsWith(${JSON.stringify(caller.username)})`)
  const own = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
  const { headers } = await shop.sendRaw('/console/session/link', {
    method: 'POST',
    headers: own,
    body: JSON.stringify({ link: await link() }),
  })
  const cookie = String(headers['set-cookie']).split(';', 1)[0]
  const request: Caller['request'] = (path, asking = {}) =>
    shop.sendRaw(path, {
      ...asking,
      headers: { ...asking.headers, ...own, cookie, 'x-service-name': caller.service.name },
    })
  return { ...caller, request, get: path => request(path) }
}
