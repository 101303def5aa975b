import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startSimulator } from '../../simulator/simulator.ts'
import { sql } from '../../src/database/db.ts'
import { assignRole } from '../../src/store/accounts/accounts.ts'
import { findStoredBackOffice, setBackOffice } from '../../src/store/backoffice/connections.ts'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { waitUntil } from '../support/processes.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'

const skip = browserMissing ?? false
const password = 'Sommer-2027'
const simulator = await startSimulator({ settings: { credentials: { user: 'till', password: 'old' } } })
let api: TestApi
let office: Caller
let page: Console

before(async () => {
  api = await startTestApi()
  office = await api.createService({ currency: 'AUD', timeZone: 'Australia/Melbourne' })
  const settings = { driver: 'apparel21', url: simulator.url, country: 'AU', user: 'till', password: 'old' } as const
  await setBackOffice(api.db, api.keys, office.service, settings)
  await waitUntil(async () => (await office.get('/syncs')).json.data.length > 5, 'the syncs are listed', 20_000)
  if (!skip) page = await openConsole(api, office)
})
after(async () => {
  await page?.close()
  await simulator.close()
  await api?.stop()
})

const changeBackOffice = (body: object) =>
  office.request('/console/back-office', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const readStored = async () => (await findStoredBackOffice(api.db, api.keys, office.service))?.settings
const readText = () => page.evaluate<string>(`document.querySelector('main').innerText`)

test('outages of the last day are shown with their times', { skip }, async () => {
  await api.db.run(sql`
    insert into call_minute (service_id, minute, calls, failed, milliseconds, slowest)
    select ${office.service.id}, date_trunc('minute', now()) - n * interval '1 minute', 10, case when n between 300 and 319 then 10 else 0 end, 900, 310
      from generate_series(60, 600) n`)
  await page.show('back-office')
  await page.waitUntil(`document.querySelector('[aria-label^="Response time: slowest 310 ms"]')`)
  assert.match(await readText(), /closed: calls go through/)
  assert.match(await readText(), /5,4\d\d calls, 200 failed \(3\.[67] %\)/)
  assert.match(await readText(), /Down for about \d+ min: 200 of \d+ calls failed/)
  const countColumns = (tone: string) =>
    page.evaluate<number>(`document.querySelectorAll('.state-strip .${tone}').length`)
  assert.ok((await countColumns('bad')) > 0 && (await countColumns('good')) > 25 && (await countColumns('idle')) > 40)
})

test('credentials are tested before they are saved', { skip }, async () => {
  simulator.set({ credentials: { user: 'till', password } })
  await page.show('back-office')
  await page.press('Test connection')
  await page.waitForText('Not connected:')
  await page.fill('Password', password)
  await page.press('Test these credentials')
  await page.waitUntil(`document.querySelector('main').innerText.includes('Connected\\n')`)
  assert.match(await readText(), /Connected\s+Version\s+\d{4}\.\d[\s\S]+Stores\s+\d+/)
  assert.equal((await readStored())?.password, 'old', 'a test saves nothing')
  await assertAccessible(page, 'the back office')
  await page.press('Save credentials')
  await page.waitForText('Credentials saved')
  assert.equal((await readStored())?.password, password)
  assert.equal(await page.readField('Password'), '')
  const [entry] = (await office.get('/audit?asc=false')).json.data
  assert.deepEqual([entry.operation, entry.fields], ['PUT /console/back-office', ['user', 'password']])
  assert.ok(!JSON.stringify((await office.get('/console/back-office')).json).includes(password))
})

test('the result of a test is hidden if the credentials change', { skip }, async () => {
  const heldRequest = await page.holdRequest('back-office/test')
  await page.press('Test connection')
  await heldRequest.sent()
  await page.fill('Password', 'wrong')
  await heldRequest.release()
  await page.waitUntil(
    `[...document.querySelectorAll('button')].some(element => element.innerText === 'Test these credentials')`,
  )
  assert.doesNotMatch(await readText(), /Connected/)
  await page.press('Test these credentials')
  await page.waitForText('Not connected:')
  await page.fill('Password', '')
})

test('a typed password stays if loading the page again fails', { skip }, async () => {
  await page.fill('Password', 'typed')
  await page.serve(/\/stats\/back-office-calls$/, { status: 503, body: '{}' }, 1)
  const loadAgain = () => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await loadAgain()
  await page.waitUntil(`document.querySelector('main .problem')`)
  assert.equal(await page.readField('Password'), 'typed')
  await loadAgain()
  await page.waitUntil(`!document.querySelector('main .problem')`)
  assert.equal(await page.readField('Password'), 'typed')
  await page.fill('Password', '')
})

test('a sync stays on the screen if a refresh fails', { skip }, async () => {
  await page.show('syncs/stock')
  const facts = `document.querySelector('main .facts-list')`
  await page.waitUntil(facts)
  await page.serve(/\/syncs$/, { status: 503, body: '{}' }, 1)
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await page.waitUntil(`document.querySelector('main .problem')`)
  assert.ok(await page.evaluate(`${facts} !== null`))
  await page.show('back-office')
  await page.waitUntil(`document.querySelector('main h1')?.innerText === 'Back office'`)
})

test('a schedule is changed and reset to its default', { skip }, async () => {
  const readInterval = async () =>
    (await office.get('/syncs')).json.data.find(({ sync }: { sync: string }) => sync === 'stock').intervalSeconds
  const initial = await readInterval()
  const stored = await readStored()
  await page.show('back-office')
  await page.fill('stock', '1800')
  await page.press('Save schedules')
  await page.waitForText('Schedules saved.')
  const readFocus = () => page.evaluate<string>('document.activeElement.innerText')
  assert.equal(await readFocus(), 'Save schedules', 'the keyboard focus stays')
  await waitUntil(async () => (await readInterval()) === 1800, 'the schedule is in effect', 10_000)
  assert.equal((await readStored())?.password, stored?.password, 'the credentials stay')
  await page.fill('stock', '')
  await page.press('Save schedules')
  await waitUntil(async () => (await readInterval()) === initial, 'the default is in effect', 10_000)
})

test('the page is accessible in the dark and on a phone', { skip }, async t => {
  t.after(() => page.setAppearance({}))
  await page.setAppearance({ width: 390, colours: 'dark' })
  await page.show('back-office')
  await page.waitUntil(`document.querySelector('[aria-label^="Response time"]')`)
  await assertAccessible(page, 'the back office in the dark')
  assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0)
})

test('a visitor sees the state but not the connection', { skip }, async () => {
  const account = await api.createAccount('visitor')
  await assignRole(api.db, account.username, office.service, 'visitor')
  const visitor = await openConsole(api, account)
  try {
    await visitor.evaluate(`location.hash = '#/${office.service.name}/back-office'`)
    await visitor.waitForText('Response time')
    const mainText = await visitor.evaluate<string>(`document.querySelector('main').innerText`)
    assert.doesNotMatch(mainText, /Credentials|Schedules|127\.0\.0\.1|localhost/)
  } finally {
    await visitor.close()
  }
})

test('the address of the back office cannot be changed over HTTP', async () => {
  for (const body of [{ url: 'https://127.0.0.1:9' }, { driver: 'embedded' }, { exportFolder: '/etc' }])
    assert.equal((await changeBackOffice(body)).json.code, 'invalid_body')
  assert.equal((await readStored())?.url, simulator.url)
})

test('invalid users, intervals and syncs are rejected with their fields', async () => {
  for (const [body, pointer] of [
    [{ user: 'a:b' }, '/user'],
    [{ schedules: [{ sync: 'stock', intervalSeconds: 5 }] }, '/schedules/0/intervalSeconds'],
    [{ schedules: [{ sync: 'weather', intervalSeconds: 300 }] }, '/schedules/0/sync'],
  ] as const) {
    const { status, json } = await changeBackOffice(body)
    assert.ok(status === 400 || status === 422, `${pointer}: ${status}`)
    assert.equal(json.errors[0].pointer, pointer)
  }
})

test('a service without its own connection cannot set credentials', async () => {
  const embedded = await api.createService()
  assert.deepEqual((await embedded.get('/console/back-office')).json.data, { driver: 'embedded', isOwn: false })
  const response = await embedded.request('/console/back-office/test', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  assert.equal(response.json.code, 'capability_unavailable')
})
