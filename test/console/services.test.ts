import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recordBackup } from '../../src/backup/history.ts'
import { sql } from '../../src/database/db.ts'
import { assignRole } from '../../src/store/accounts/accounts.ts'
import { raiseAlert } from '../../src/store/alerts/alerts.ts'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { openScreen } from '../support/console/crawl.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'

// Tests the screens of an account with several services, and of the installation.

const skip = browserMissing ?? false
let api: TestApi
let otherCaller: Caller
let page: Console

before(async () => {
  api = await startTestApi()
  otherCaller = await api.createService()
  await assignRole(api.db, api.username, otherCaller.service, 'maintainer')
  if (!skip) page = await openConsole(api, api)
})
after(async () => {
  await page?.close()
  await api?.stop()
})

const rows = `[...document.querySelectorAll('main tbody tr')].map(row => row.innerText.replace(/\\s+/g, ' ').trim())`
const readMain = () => page.evaluate<string>(`document.querySelector('main').innerText`)

/** Adds a job of the first service that is due in an hour, if it doesn't exist. */
const addLaterJob = () =>
  api.db.run(sql`
    insert into job (service_id, name, due_at) values (${api.service.id}, 'check-mappings', now() + interval '1 hour') on conflict do nothing`)

test('all services are compared, the worst first', { skip }, async () => {
  await raiseAlert(api.db, otherCaller.service.id, { kind: 'email_failed', subject: '12', detail: 'It failed.' })
  await openScreen(page, 'services')
  assert.match(await readMain(), /1 of 2 services needs attention/)
  const [first, second] = await page.evaluate<string[]>(rows)
  assert.match(
    first ?? '',
    new RegExp(`^${otherCaller.service.name} Voucher email could not be sent 1 0 – 0 – maintainer$`),
  )
  assert.match(second ?? '', new RegExp(`^${api.service.name} healthy 0 0 – 0 – admin$`))
  await assertAccessible(page, 'all services')
  await page.press(otherCaller.service.name)
  await page.waitForText('Voucher email could not be sent')
  assert.equal(await page.evaluate('location.hash'), `#/${otherCaller.service.name}/overview`)
})

test('a service that fails does not hide the others', { skip }, async () => {
  await page.evaluate(`(() => {
    const original = globalThis.fetch
    globalThis.fetch = (path, options) => options.headers['x-service-name'] === ${JSON.stringify(otherCaller.service.name)} && !String(path).startsWith('console/')
      ? Promise.reject(new TypeError('Failed to fetch')) : original(path, options)
  })()`)
  await page.evaluate(`location.hash = '#/${api.service.name}/services'`)
  await page.waitForText("can't be loaded")
  assert.equal((await page.evaluate<string[]>(rows)).length, 2)
  await page.evaluate('location.reload()')
  await page.waitUntil(`document.querySelector('nav')`)
})

test('the system page shows workers, database, backups and certificate', { skip }, async () => {
  await page.evaluate(`location.hash = '#/${api.service.name}/system'`)
  await page.waitForText('Certificate')
  assert.match(await readMain(), /Backups\s+no backup/)
  assert.match(await readMain(), /Database\s+(up to date|update available)\s+PostgreSQL\s+1\d\.\d/)
  assert.match(await readMain(), /Certificate\s+expires in \d+ days/)
  assert.match(await readMain(), /Tillbridge \d+\.\d+\.\d+/)
  await assertAccessible(page, 'the system')
  await api.db.run(sql`insert into installation (secret_digest) values ('') on conflict do nothing`)
  await recordBackup(api.db, new Date(Date.now() - 3 * 3_600_000).toISOString())
  await api.db.run(sql`insert into job (service_id, name, due_at) values (null, 'purge-expired', now() - interval '2 hours')
    on conflict (service_id, name, subject) do update set due_at = excluded.due_at, leased_until = null`)
  await addLaterJob()
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await page.waitForText('no worker is running')
  assert.match(await readMain(), /Oldest due job\s+2 h\s+Jobs of this service\s+0 running, 0 due, 1 scheduled/)
  assert.match(await readMain(), /Backups\s+up to date\s+Last backup\s+3 h ago/)
  await page.setAppearance({ width: 390, colours: 'dark' })
  await assertAccessible(page, 'the system on a phone')
  assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0)
  await page.setAppearance({})
})

test('jobs of another service are not counted', async () => {
  await addLaterJob()
  const countJobs = async (caller: Caller) => {
    const { running, due, later } = (await caller.get('/console/system')).json.data.jobs
    return [running, due, later]
  }
  assert.deepEqual(
    [await countJobs(api), await countJobs(otherCaller)],
    [
      [0, 0, 1],
      [0, 0, 0],
    ],
  )
})
