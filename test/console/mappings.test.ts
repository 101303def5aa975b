import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { sql } from '../../src/database/db.ts'
import { startWorker, type Worker } from '../../src/jobs/worker.ts'
import { mappingCheckJob } from '../../src/store/mappings/platform-items.ts'
import { buildProductExport } from '../api/mappings/shopify.ts'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { importAndWait } from '../support/import-and-wait.ts'
import { addSkusInCapitals, createUnmappedShop } from '../support/mapping-shop.ts'
import { waitUntil } from '../support/processes.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { post, put } from '../support/write.ts'

const skip = browserMissing ?? false
let api: TestApi
let caller: Caller
let page: Console
let worker: Worker | undefined

before(async () => {
  api = await startTestApi()
  caller = await createUnmappedShop(api)
  if (!skip) page = await openConsole(api, caller)
})
after(async () => {
  await page?.close()
  await worker?.stop(1_000)
  await api.stop()
})

const startTestWorker = () =>
  startWorker({ db: api.db, keys: api.keys, log: pino({ level: 'silent' }), mailTransport: { send: async () => {} } })
const readMappedSku = async (id: string) => (await caller.get(`/mappings/skus/${id}`)).json.data.ecommerceSku
const readFocus = () => page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.innerText')

test('a SKU is mapped to its platform item', { skip }, async () => {
  await page.show('mappings/skus')
  await page.press('Map 12001')
  await assertAccessible(page, 'a mapping')
  await page.fill('E-commerce SKU', 'mh01-s')
  await page.press('Save')
  await page.waitUntil(`!document.querySelector('dialog')`)
  assert.equal(await readMappedSku('12001'), 'mh01-s')
  assert.equal(await readFocus(), 'Map 12001')
})

test('the page shows the progress of a check that another client started', {
  skip,
}, async () => {
  await page.show('mappings/check/skus')
  await page.waitForText('Not checked yet.')
  const body = buildProductExport([
    ['S', 'MH01-S'],
    ['M', 'MH01-M'],
  ])
  const response = await caller.request('/imports?type=ecommerce-variants', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body,
  })
  await waitUntil(
    async () => (await caller.get(String(response.headers.location))).json.data.state === 'ok',
    'the platform items are imported',
  )
  assert.equal((await post(caller, '/mappings/check', {})).status, 202)
  await page.waitForText('Queued. The check starts when a worker is free.')
  const ofService = sql`service_id = ${caller.service.id}`
  await api.db.run(sql`update mapping_check set (checked, to_check) = row(1, 1000) where ${ofService}`)
  await page.waitForText('1 of 1,000 records')
  await assertAccessible(page, 'a running check')
  worker = startTestWorker()
  await page.waitForText('different case')
  assert.doesNotMatch(await page.evaluate<string>('document.body.innerText'), /Checking…/)
  const jobs = await api.db.rows(
    sql`select from job where ${ofService} and name = ${mappingCheckJob} and due_at <= now()`,
  )
  assert.equal(jobs.length, 0)
})

test('a click applies a suggestion and focuses its undo button', { skip }, async () => {
  await assertAccessible(page, 'the mapping check')
  await page.press('Use MH01-S')
  await page.waitForText('Mapping of 12001 updated.')
  assert.equal(await readMappedSku('12001'), 'MH01-S')
  await page.waitUntil(`document.activeElement.innerText === 'Undo'`)
  await page.press('Undo')
  await page.waitForText('different case')
  assert.equal(await readMappedSku('12001'), 'mh01-s')
})

test('a mapping changed since the list was read is not overwritten', { skip }, async () => {
  const changeMapping = () => put(caller, '/mappings/skus/12001', { ecommerceSku: 'theirs' })
  await changeMapping()
  await page.press('Use MH01-S')
  await page.waitForText('mapping_changed')
  assert.equal(await readMappedSku('12001'), 'theirs')
  await page.press('Map 12001')
  await page.press('Save')
  await page.waitUntil(`document.querySelector('dialog')?.innerText.includes('mapping_changed')`)
  assert.equal(await readMappedSku('12001'), 'theirs')
  await put(caller, '/mappings/skus/12001', { ecommerceSku: 'mh01-s' })
  await page.press('Close')
  await page.waitUntil(`!document.querySelector('dialog')`)
  await page.waitForText('different case')
})

test('any fix can be undone unless its mapping has changed since', {
  skip,
}, async () => {
  await page.press('Use MH01-S')
  await page.waitForText('Mapping of 12001 updated.')
  await page.show('mappings/check/skus/unmapped')
  await page.press('Map 12002')
  await page.fill('Platform ID', 'MH01-M')
  await page.press('Save')
  await page.waitForText('Mapping of 12002 updated.')
  await page.show('mappings/fixes')
  await assertAccessible(page, 'fixes')
  const rows = `[...document.querySelectorAll('tbody tr')].map(row => row.innerText.replace(/\\s+/g, ' '))`
  await page.waitUntil(`${rows}.length === 3`)
  await page.press('Undo 12001')
  await page.waitForText('will be mapped to mh01-s again')
  await page.press('Undo')
  await page.waitUntil(`!document.querySelector('dialog')`)
  // The pressed button has disappeared.
  await page.waitUntil(`document.activeElement.ariaLabel === 'Fixes, newest first'`)
  assert.equal(await readMappedSku('12001'), 'mh01-s')
  assert.equal(await readMappedSku('12002'), 'MH01-M')
  await put(caller, '/mappings/skus/12002', { ecommerceSku: null })
  await page.press('Undo 12002')
  await page.press('Undo')
  await page.waitForText('mapping_changed')
  await page.press('Close')
  const csv = await page.exportCsv()
  assert.match(csv, /,SKU,12002,,MH01-M,/)
  assert.equal(csv.split('\r\n').length, 5)
  await page.show('mappings/check/skus/nearMatch')
  await page.waitForText('mh01-s')
  const [header, row] = (await page.exportCsv()).split('\r\n')
  assert.match(header ?? '', /skuId,ecommerceSku,name,state,ecommerceName,evidence,unitsInStock,unitsSold$/)
  assert.match(row ?? '', /^12001,MH01-S,/)
})

test('sure suggestions are previewed, accepted together and undone together', { skip }, async () => {
  const skus = await addSkusInCapitals(api.db, caller.service, 120)
  // A space inside the SKU is hard to see.
  const variants = skus.map((sku, i): [string, string] => [String(i), i === 0 ? sku.replace('Sku-', 'SKU- ') : sku])
  await importAndWait(caller, 'ecommerce-variants', buildProductExport(variants))
  assert.equal((await post(caller, '/mappings/check', {})).status, 202)
  await page.show('mappings/check/skus/nearMatch')
  await page.waitUntil(
    `/^SKUs 0 % matched, 1\\d\\d problems/.test(document.querySelector('.kind[aria-current]')?.innerText)`,
  )
  await page.waitForText('different whitespace')
  const row = `[...document.querySelectorAll('tbody tr')].find(element => element.innerText.includes('whitespace'))`
  assert.deepEqual(await page.evaluate(`[...${row}.querySelectorAll('.diff code')].map(code => code.innerText)`), [
    'SKU-000',
    'SKU-␣000',
  ])
  assert.deepEqual(await page.evaluate(`[...${row}.querySelectorAll('.diff ins')].map(element => element.innerText)`), [
    '␣',
  ])
  await page.press('Accept sure suggestions…')
  await page.waitForText('different case (')
  await assertAccessible(page, 'the preview of suggestions')
  assert.equal(await page.evaluate(`document.querySelectorAll('dialog tbody tr').length`), 10)
  await page.fill('Suggestions', 'case')
  await page.press('Accept 119 suggestions')
  await page.waitForText('119 mappings updated.')
  assert.equal(await readMappedSku('SKU-007'), 'Sku-007')
  await page.waitUntil(`document.activeElement.innerText === 'Undo'`)
  await page.press('Undo')
  await page.waitForText('119 mappings restored.')
  assert.equal(await readMappedSku('SKU-007'), null)

  await page.press('Accept sure suggestions…')
  await page.press('Accept 120 suggestions')
  await page.waitForText('120 mappings updated.')
  await put(caller, '/mappings/skus/SKU-007', { ecommerceSku: 'theirs' })
  await page.press('Fixes')
  await page.waitForText('120 SKUs')
  await assertAccessible(page, 'batches of fixes')
  await page.press('Undo all 120')
  await page.waitForText('Mappings that have changed since stay.')
  await page.press('Undo all')
  await page.waitForText('119 mappings restored. 1 skipped, because they have changed since.')
  assert.equal(await readMappedSku('SKU-007'), 'theirs')
})

test('all mappings are searched, and keep their place after a change', { skip }, async () => {
  await page.show('mappings/check')
  await page.press('All mappings')
  await page.waitForText('123 SKUs')
  await page.fill('Search SKUs', 'sku-11')
  await page.waitForText('10 SKUs')
  assert.match(await page.evaluate<string>('location.hash'), /q=sku-11/)
  await page.press('Map SKU-115')
  await page.waitUntil(`document.querySelector('dialog [role=combobox]')`)
  await page.evaluate(`document.querySelector('dialog [role=combobox]').focus()`)
  await page.type('sku-115')
  await page.waitUntil(`document.querySelectorAll('dialog [role=option]').length === 1`)
  await assertAccessible(page, 'the choice of a platform item')
  await page.pressKey('ArrowDown')
  await page.waitUntil(`document.querySelector('dialog [aria-selected=true]')?.innerText.startsWith('Sku-115')`)
  await page.pressKey('Enter')
  assert.equal(await page.readField('E-commerce SKU'), 'Sku-115')
  await page.press('Save')
  await page.waitUntil(`!document.querySelector('dialog')`)
  assert.equal(await readMappedSku('SKU-115'), 'Sku-115')
  await page.waitUntil(
    `[...document.querySelectorAll('tbody tr')].some(element => element.innerText.includes('Sku-115'))`,
  )
  assert.match(await page.evaluate<string>('location.hash'), /q=sku-11/)
  assert.equal(await readFocus(), 'Map SKU-115')
  await page.press('Customers')
  await page.fill('Search customers', 'john')
  await page.waitForText('1 customer')
  await page.waitForText('john@example.com')
})

test('Escape closes the list of items and then the dialog', { skip }, async () => {
  await page.show('mappings/skus')
  await page.press('Map 12002')
  await page.waitUntil(`document.querySelector('dialog [role=combobox]')`)
  await page.evaluate(`document.querySelector('dialog [role=combobox]').focus()`)
  await page.type('sku-0')
  await page.waitUntil(`document.querySelectorAll('dialog [role=option]').length === 8`)
  await page.pressKey('Escape')
  await page.waitUntil(`document.querySelector('dialog [role=listbox]').hidden`)
  assert.ok(await page.evaluate(`document.querySelector('dialog').open`))
  await page.pressKey('Escape')
  await page.waitUntil(`!document.querySelector('dialog')`)
})

test('late suggestions of an earlier text are ignored', { skip }, async () => {
  await page.show('mappings/skus')
  await page.press('Map 12002')
  const options = `[...document.querySelectorAll('dialog [role=option]')].map(element => element.innerText.split(' ')[0])`
  await page.waitUntil(`document.querySelector('dialog [role=combobox]')`)
  const heldRequest = await page.holdRequest('items?q=sku-0')
  await page.fill('E-commerce SKU', 'sku-0')
  await heldRequest.sent()
  await page.fill('E-commerce SKU', 'sku-116')
  await page.waitUntil(`${options}.length === 1`)
  const shownOptions = await page.evaluate<string[]>(options)
  await heldRequest.release()
  assert.deepEqual(await page.evaluate(options), shownOptions)
  await page.evaluate(`document.querySelector('dialog [role=combobox]').focus()`)
  await page.fill('E-commerce SKU', 'sku-0')
  await page.waitUntil(`${options}.length === 8`)
  await page.pressKey('ArrowUp')
  await page.waitUntil(`document.querySelector('dialog li:last-child[aria-selected=true]')`)
  await page.pressKey('Escape')
  await page.pressKey('Escape')
  await page.waitUntil(`!document.querySelector('dialog')`)
})
