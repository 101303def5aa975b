import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recordBackup } from '../../../src/backup/history.ts'
import { sql } from '../../../src/database/db.ts'
import { raiseAlert } from '../../../src/store/alerts/alerts.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api?.stop())

const readHealth = async (caller: Pick<TestApi, 'get'> = api) => (await caller.get('/health')).json.data

const healthy = { level: 'ok', problems: [], lastBackupAt: null }

interface Run {
  origin?: 'file' | 'backOffice'
  read?: number
  rejected?: number
  skipped?: number
  error?: string | null
}

const addRun = (sync: string, run: Run) => {
  const { origin = 'file', read = 10, rejected = 0, skipped = 0, error = null } = run
  return api.db.run(sql`
    insert into sync_run (service_id, sync, origin, changed_at, ended_at, is_full, read, rejected, skipped, error)
    values (${api.service.id}, ${sync}, ${origin}, clock_timestamp(), clock_timestamp(), false, ${read}, ${rejected}, ${skipped}, ${error})`)
}

test('a service without problems is ok', async () => {
  assert.deepEqual(await readHealth(), healthy)
})

test('skipped records degrade the health; a rejected file is critical', async () => {
  await addRun('stock', { skipped: 3 })
  assert.deepEqual(await readHealth(), healthy, 'skipped lines of a file must not degrade the health')
  await addRun('stock', { skipped: 3, origin: 'backOffice' })
  assert.equal((await readHealth()).level, 'degraded')
  await addRun('customers', { rejected: 10 })
  await addRun('stores', { rejected: 2 })
  await addRun('staff', { error: 'The file is not UTF-8.' })
  const { level, problems } = await readHealth()
  assert.equal(level, 'critical')
  assert.deepEqual(problems.map((problem: { level: string; title: string }) => [problem.level, problem.title]).sort(), [
    ['critical', 'Import of customers: all rejected'],
    ['critical', 'Import of staff: failed'],
    ['degraded', 'Import of stores: 2 rejected'],
    ['degraded', 'Sync of stock: 3 skipped'],
  ])
  assert.equal(problems[0].level, 'critical', 'the worst problem must come first')
  for (const sync of ['stock', 'customers', 'stores', 'staff']) await addRun(sync, {})
  assert.deepEqual(await readHealth(), healthy)
})

test("a failed sync of a previous back office isn't a problem", async () => {
  await api.db.run(sql`
    insert into sync_state (service_id, sync, error)
    select ${api.service.id}, sync, 'The back office is unavailable.' from unnest(array['customers', 'returns']) sync`)
  assert.deepEqual(await readHealth(), healthy)
})

test('a failing webhook and its alert are one problem for admins', async () => {
  const { id } = (await api.db.row<{ id: string }>(sql`
      insert into webhook (service_id, webhook_id, url, kinds, cursor, secret, last_failure)
      values (${api.service.id}, gen_random_uuid(), 'https://shop.example/hooks', '[]', '', '', ${JSON.stringify({ at: '2026-11-21T09:00:00Z', status: 500, detail: 'The endpoint returned 500.' })})
      returning webhook_id as id`)) as { id: string }
  const [problem] = (await readHealth()).problems
  assert.equal(problem.title, 'Webhook https://shop.example/hooks: last delivery failed')
  assert.equal(problem.level, 'degraded')
  assert.equal(problem.subject, id)
  await raiseAlert(api.db, api.service.id, { kind: 'webhook_failing', subject: id, detail: '' })
  const [failing, ...otherProblems] = (await readHealth()).problems
  const [alert] = (await api.get('/alerts')).json.data
  assert.deepEqual(
    [failing.title, failing.level, failing.alert, failing.since, otherProblems],
    [problem.title, 'critical', alert.id, alert.since, []],
  )
  await raiseAlert(api.db, api.service.id, { kind: 'email_failed', subject: 'x', detail: 'The server is down.' })
  assert.deepEqual(
    (await readHealth()).problems.map(({ kind }: { kind: string }) => kind),
    ['webhook_unhealthy', 'email_failed'],
  )
  assert.deepEqual(await readHealth(await api.createAccount('visitor')), healthy)
  assert.deepEqual(
    (await readHealth(await api.createAccount('maintainer'))).problems.map(({ kind }: { kind: string }) => kind),
    ['email_failed', 'webhook_failing'],
  )
})

test('a paused webhook is degraded, and critical if deleted records were missed', async () => {
  const { id } = (await api.db.row<{ id: string }>(sql`
    insert into webhook (service_id, webhook_id, url, kinds, cursor, secret, state)
    values (${api.service.id}, gen_random_uuid(), 'https://shop.example/paused', '[]', '', '', 'paused')
    returning webhook_id as id`)) as { id: string }
  const readProblem = async () =>
    (await readHealth()).problems.find(({ subject }: { subject: string }) => subject === id)
  const { level, kind, alert } = await readProblem()
  assert.deepEqual([level, kind, alert], ['degraded', 'webhook_paused', null])
  await raiseAlert(api.db, api.service.id, { kind: 'webhook_expired', subject: id, detail: 'It was down too long.' })
  const expired = await readProblem()
  const [raised] = (await api.get('/alerts')).json.data.filter(({ subject }: { subject: string }) => subject === id)
  assert.deepEqual([expired.level, expired.kind, expired.alert], ['critical', 'webhook_paused', raised.id])
})

test('admins see the time of the newest backup', async () => {
  const takenAt = '2026-11-21T02:00:00.000Z'
  await api.db.run(sql`insert into installation (secret_digest) values ('') on conflict do nothing`)
  await recordBackup(api.db, takenAt)
  assert.equal((await readHealth()).lastBackupAt, takenAt)
  const maintainer = await api.createAccount('maintainer')
  assert.equal((await readHealth(maintainer)).lastBackupAt, null)
})
