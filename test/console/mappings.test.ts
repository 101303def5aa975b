import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { sql } from '../../src/database/db.ts'
import { startWorker, type Worker } from '../../src/jobs/worker.ts'
import { mappingCheckJob } from '../../src/store/mappings/platform-items.ts'
import { productExport } from '../api/mappings/shopify.ts'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { createUnmappedShop } from '../support/mapping-shop.ts'
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
  await page.until(`!document.querySelector('dialog')`)
  assert.equal(await readMappedSku('12001'), 'mh01-s')
  assert.equal(await readFocus(), 'Map 12001')
})

test('the page shows the progress of a check that another client started', {
  skip,
}, async () => {
  await page.show('mappings/check/skus')
  await page.waitForText('Not checked yet.')
  const body = productExport([
    ['S', 'MH01-S'],
    ['M', 'MH01-M'],
  ])
  const sent = await caller.request('/imports?type=ecommerce-variants', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body,
  })
  await waitUntil(
    async () => (await caller.get(String(sent.headers.location))).json.data.state === 'ok',
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
  await page.until(`document.activeElement.innerText === 'Undo'`)
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
  await page.until(`document.querySelector('dialog')?.innerText.includes('mapping_changed')`)
  assert.equal(await readMappedSku('12001'), 'theirs')
  await put(caller, '/mappings/skus/12001', { ecommerceSku: 'mh01-s' })
  await page.press('Close')
  await page.until(`!document.querySelector('dialog')`)
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
  await page.until(`${rows}.length === 3`)
  await page.press('Undo 12001')
  await page.waitForText('will be mapped to mh01-s again')
  await page.press('Undo')
  await page.until(`!document.querySelector('dialog')`)
  // The pressed button has disappeared.
  await page.until(`document.activeElement.ariaLabel === 'Fixes, newest first'`)
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
