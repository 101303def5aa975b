import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { lockImportType } from '../../src/import/pipeline/import-type-lock.ts'
import { customerExport } from '../api/mappings/shopify.ts'
import { browserMissing } from '../support/browser.ts'
import { isAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { fillShop } from '../support/order-shop.ts'
import { startTestService, type TestService } from '../support/service.ts'

const skip = browserMissing ?? false
let shop: TestService
let page: Console

before(async () => {
  shop = await startTestService()
  await fillShop(shop.db, shop.service)
  if (!skip) page = await openConsole(shop, shop)
})
after(async () => {
  await page?.close()
  await shop?.stop()
})

const figure = (name: string) =>
  `[...document.querySelectorAll('.facts-list div')].some(each => each.innerText.replace(/\\s+/g, ' ').startsWith(${JSON.stringify(name)}))`
const stock = async () =>
  (await shop.get('/inventory')).json.data
    .filter(({ storeNumber }: { storeNumber: string }) => storeNumber === '102')
    .map(({ sku, freeStock, buffer }: { sku: string; freeStock: number; buffer: number }) => [sku, freeStock, buffer])
    .sort()

test("a dropped file's columns are detected, and a dry run writes nothing", {
  skip,
}, async () => {
  const before = await stock()
  await page.show('import')
  await isAccessible(page, 'where a file is dropped')
  const lines = [
    'Filiale;SKU;Frei;Größe',
    '102;TEE;7,0;S',
    '999;TEE;1;S',
    '998;HOOD-S;1;S',
    '102;HOOD-S;viele;"M;L"',
    '',
  ]
  await page.drop('stock of monday.csv', Buffer.from(lines.join('\r\n'), 'latin1'))
  await page.says('Größe')
  assert.deepEqual(
    [
      await page.filled('Rows are'),
      await page.filled('Separator'),
      await page.filled('Encoding'),
      await page.filled('sku is'),
    ],
    ['stock', ';', 'windows-1252', 'SKU'],
  )
  await page.says('Say what storeNumber, freeStock are')
  await page.fill('storeNumber is', 'Filiale')
  await page.fill('freeStock is', 'Frei')
  await page.evaluate(`document.querySelector('details').open = true`)
  await page.fill('buffer is', ' constant')
  await page.fill('buffer in every line', '2')
  assert.equal(await page.filled('Numbers'), ',')
  await isAccessible(page, 'the columns of a file')
  await page.press('Try it, write nothing')
  await page.until(figure('Rejected 3'))
  assert.equal(await page.evaluate(figure('Good 1')), true)
  const [sent = ''] = page.requests.filter(url => url.includes('/imports?type=stock&'))
  assert.deepEqual(
    [sent.includes('Filiale'), decodeURIComponent(sent).includes('Größe')],
    [true, false],
    'what is left out is not in the URL',
  )
  assert.deepEqual(await stock(), before)
})

test('rejected lines are grouped, corrected singly or together and sent again', {
  skip,
}, async () => {
  await page.press('Import')
  await page.says('New')
  await page.until(figure('Rejected 3'))
  await page.says('Filiale names no store')
  await page.until(`document.querySelector('details.card table')`)
  await isAccessible(page, 'rejected lines')
  await page.appear({ width: 320 })
  assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 320)
  await page.appear({})
  assert.match(
    await page.evaluate<string>(`document.querySelector('details.card').innerText.replace(/\\s+/g, ' ')`),
    /names no store 2 lines/,
  )
  await page.fill('Filiale of all 2', '102')
  await page.press('Apply to all')
  await page.evaluate(`for (const each of document.querySelectorAll('details.card')) each.open = true`)
  await page.fill('Frei of line 5', '4')
  await page.press('Send 3 lines again')
  await page.until(figure('Rejected 0'))
  assert.deepEqual(await stock(), [
    ['HOOD-S', 4, 2],
    ['TEE', 1, 2],
  ])
})

test('column choices survive going back, and records keep their fields', { skip }, async () => {
  await page.press('Back to the columns')
  assert.equal(await page.filled('storeNumber is'), 'Filiale')
  await page.drop(
    'records.ndjson',
    Buffer.from('{"storeId":"1","storeNumber":"9","name":"North","shoes":1}\n{"storeId":"2"}\n'),
  )
  await page.says('shoes')
  assert.equal(await page.filled('Rows are'), 'stores')
  await page.press('Try it, write nothing')
  await page.until(figure('Rejected 1'))
  await page.says('is required')
  await page.until(`document.querySelector('details.card table')`)
  await page.evaluate(`for (const each of document.querySelectorAll('details.card')) each.open = true`)
  await page.fill('storeNumber of line 2', '10')
  await page.fill('name of line 2', 'South')
  await page.press('Try 1 line again')
  await page.says('Trial: records (mended).ndjson')
  await page.until(figure('Good 1'))
  await page.says('Import takes in all of records.ndjson, and then these lines as they are mended.')
  assert.equal((await shop.get('/stores/10')).status, 404, 'what a trial has rejected is tried, not written')
})

test('an import with corrected lines completes despite interrupted polls', {
  skip,
}, async () => {
  const letGo = await lockImportType(shop.db, shop.service, 'stores')
  try {
    await page.evaluate(`{
      const real = fetch
      globalThis.missed = 0
      globalThis.fetch = (path, how) =>
        /imports\\/[^/?]{36}$/.test(path) && missed < 3 ? (missed++, Promise.reject(new TypeError('gone'))) : real(path, how)
    }`)
    await page.press('Import')
    await page.until('missed === 3')
  } finally {
    await letGo()
  }
  await page.until(figure('New 2'))
  await page.says('Import: records.ndjson')
  for (const shown of ['Lines read 2', 'Rejected 0', 'Unchanged 0'])
    assert.ok(await page.evaluate(figure(shown)), shown)
  assert.equal((await shop.get('/stores/10')).json.data.name, 'South')
  assert.equal((await shop.get('/stores/9')).json.data.name, 'North', 'what the trial found good')
  assert.deepEqual(
    page.complaints.filter(text => !/Failed to load resource/.test(text)),
    [],
  )
})

test('corrections accumulate over dry runs and only remaining errors stay', {
  skip,
}, async () => {
  const shows = async (...figures: string[]) => {
    for (const each of figures) await page.until(figure(each))
    await page.until(`document.querySelector('details.card table')`)
  }
  await page.drop('more stores.csv', Buffer.from('storeId;storeNumber;name\n21;21;A\n22;;B\n23;;C\n24;;D\n'))
  await page.says('more stores.csv')
  await page.press('Try it, write nothing')
  await shows('Lines read 4', 'Good 1', 'Rejected 3')
  await page.fill('storeNumber of line 3', '22')
  await page.press('Try 3 lines again')
  await shows('Lines read 3', 'Good 1', 'Rejected 2')
  await page.fill('storeNumber of line 3', '23')
  await page.press('Try 2 lines again')
  await shows('Lines read 2', 'Good 1', 'Rejected 1')
  await page.says('Import takes in all of more stores.csv')
  await page.press('Import')
  await page.says('Import: more stores.csv')
  await shows('Lines read 4', 'New 3', 'Unchanged 0', 'Rejected 1')
  await page.fill('storeNumber of line 3', '24')
  await page.press('Send 1 line again')
  await page.until(figure('New 1'))
  for (const number of ['21', '22', '23', '24']) assert.equal((await shop.get(`/stores/${number}`)).status, 200, number)
})

test('a Shopify export is recognised and its omissions remove nothing', {
  skip,
}, async () => {
  const there = () =>
    shop.db.rows<{ id: string }>(
      sql`select ecommerce_id as id, other from ecommerce_item where service_id = ${shop.service.id} order by 1`,
    )
  const customers = ['1', '2', '4'.repeat(101)].map(id => [id, `${id.slice(0, 1)}@example.com`] as const)
  await page.drop('customers_export.csv', Buffer.from(customerExport(customers)))
  await page.says('customers_export.csv')
  await page.until(`document.querySelector('[aria-label="How it is written"]')`)
  assert.equal(await page.filled('Rows are'), 'ecommerce-customers')
  await page.fill('email is', ' none')
  await page.press('Import')
  await page.until(figure('Rejected 1'))
  assert.deepEqual(await there(), [
    { id: '1', other: null },
    { id: '2', other: null },
  ])
  await page.until(`document.querySelector('details.card table')`)
  await page.fill('Customer ID of line 4', '=3')
  await page.press('Send 1 line again')
  await page.says('customers_export (mended).csv')
  await page.until(figure('New 1'))
  assert.deepEqual(
    (await there()).map(({ id }) => id),
    ['1', '2', '=3'].toSorted(),
  )
})

test('the encoding is detected anywhere, and damaged lines are not sent', {
  skip,
}, async () => {
  const columns = 'storeId,storeNumber,name,Notes\n'
  const first = `31,31,Harbour,${'x'.repeat(70_000)}\n`
  const name = async (number: string) => (await shop.get(`/stores/${number}`)).json.data?.name
  await page.drop('stores.csv', Buffer.from(`${columns}${first}32,,Müller,\n`, 'latin1'))
  await page.says('Notes')
  assert.equal(await page.filled('Encoding'), 'windows-1252')
  await page.press('Import')
  await page.until(figure('Rejected 1'))
  await page.until(`document.querySelector('details.card table')`)
  await page.fill('storeNumber of line 3', '32')
  await page.press('Send 1 line again')
  await page.until(figure('New 1'))
  assert.equal(await name('32'), 'Müller')

  const torn = Buffer.from('34,34,Müller,\n', 'latin1')
  await page.drop('stores.csv', Buffer.concat([Buffer.from(`${columns}${first}33,,Größe,\n`), torn]))
  await page.until(`document.querySelector('[aria-label="How it is written"]')`)
  assert.equal(await page.filled('Encoding'), 'utf-8')
  await page.press('Import')
  await page.until(figure('Rejected 2'))
  await page.says('is not valid UTF-8')
  await page.evaluate(`for (const each of document.querySelectorAll('details.card')) each.open = true`)
  await page.fill('storeNumber of line 3', '33')
  await page.press('Send 1 line again')
  await page.until(figure('New 1'))
  assert.deepEqual([await name('33'), await name('34')], ['Größe', undefined])
})
