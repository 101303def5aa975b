import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { buildProgram } from '../../../src/commands/program.ts'
import { sql } from '../../../src/database/db.ts'
import { type AlertName, type AlertRecord, alertKinds } from '../../../src/domain/alerts.ts'
import { raiseAlert } from '../../../src/store/alerts/alerts.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())

const raise = (caller: Caller, kind: AlertName, subject: string, detail = 'It failed.') =>
  raiseAlert(api.db, caller.service.id, { kind, subject, detail })
const listAlerts = async (caller: Caller): Promise<AlertRecord[]> => (await caller.get('/alerts')).json.data

test('an alert contains its cause, its count and its remedy', async () => {
  const caller = await api.createService()
  assert.deepEqual(await listAlerts(caller), [])
  await raise(caller, 'sync_failing', 'stock', 'back_office_unavailable (5 times)')
  await raise(caller, 'sync_failing', 'stock', 'back_office_unavailable (6 times)')
  const [{ id, since, lastAt, ...alert } = {} as AlertRecord, ...more] = await listAlerts(caller)
  assert.deepEqual(more, [])
  assert.ok(id && Date.parse(since) <= Date.parse(lastAt))
  assert.deepEqual(alert, {
    kind: 'sync_failing',
    subject: 'stock',
    title: 'Sync keeps failing',
    detail: 'back_office_unavailable (6 times)',
    remedy:
      "Open the sync's last runs to see the back office's error. It retries automatically; POST /syncs/stock/run retries immediately.",
    path: '/syncs/stock/runs',
    autoResolves: true,
    times: 2,
  })
})

test('a resolved alert disappears and is raised again on the next occurrence', async () => {
  const caller = await api.createService()
  await raise(caller, 'voucher_pin_guessing', '2062389')
  const [before] = await listAlerts(caller)
  const path = `/alerts/${before?.id}/resolve`
  const dryRun = await post(caller, path, {}, { prefer: 'tx=rollback' })
  assert.deepEqual([dryRun.status, (await listAlerts(caller)).length], [200, 1])
  const resolved = await post(caller, path, {})
  assert.deepEqual([resolved.status, resolved.json.data], [200, before])
  assert.deepEqual(await listAlerts(caller), [])
  assertProblem(await post(caller, path, {}), 'not_found', api.baseUrl, path)
  await raise(caller, 'voucher_pin_guessing', '2062389')
  const [again] = await listAlerts(caller)
  assert.deepEqual([again?.times, again?.id === before?.id], [1, false])
  const { json } = await caller.get('/audit')
  assert.deepEqual(
    json.data.map((entry: { operation: string }) => entry.operation),
    ['POST /alerts/:id/resolve'],
  )
})

test('one of two concurrent requests to resolve an alert succeeds', async () => {
  const caller = await api.createService()
  await raise(caller, 'export_file_rejected', 'stock.csv')
  const [alert] = await listAlerts(caller)
  const responses = await Promise.all(Array.from({ length: 8 }, () => post(caller, `/alerts/${alert?.id}/resolve`, {})))
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, ...Array(7).fill(404)])
})

test('alerts are paginated newest first and belong to one service', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  for (const [i, kind] of (Object.keys(alertKinds) as AlertName[]).entries()) {
    await raise(caller, kind, `s${i}`)
    await api.db.run(sql`update alert set begun_at = now() - ${i} * interval '1 minute' where subject = ${`s${i}`}`)
  }
  await raise(other, 'email_failed', 'canary')
  const paginatedAlerts: AlertRecord[] = []
  for (let query = '?limit=3'; query; ) {
    const { json } = await caller.get(`/alerts${query}`)
    paginatedAlerts.push(...json.data)
    query = json.meta.hasNextPage ? `?limit=3&after_cursor=${json.meta.endCursor}` : ''
  }
  assert.deepEqual(
    paginatedAlerts.map(({ kind }) => kind),
    Object.keys(alertKinds),
  )
  for (const { title, remedy } of paginatedAlerts) assert.ok(title && remedy && !/\{/.test(remedy), title)
  assert.deepEqual(
    (await listAlerts(other)).map(({ subject }) => subject),
    ['canary'],
  )
})

test('a visitor cannot see alerts because some contain voucher numbers', async () => {
  const visitor = await api.createAccount('visitor')
  assertProblem(await visitor.get('/alerts'), 'insufficient_role', api.baseUrl, '/alerts')
  assert.equal((await (await api.createAccount('maintainer')).get('/alerts')).status, 200)
})

test('each command in a remedy exists and accepts its arguments', async () => {
  const caller = await api.createService()
  for (const kind of Object.keys(alertKinds) as AlertName[]) await raise(caller, kind, '2062389')
  const remedies = (await listAlerts(caller)).map(({ remedy }) => remedy)
  for (const remedy of remedies) assert.doesNotMatch(remedy, /password=|SERVICE|\{|(?<!`)tillbridge /)
  const commands = remedies.flatMap(remedy =>
    [...remedy.matchAll(/`tillbridge ([^`]+)`/g)].map(([, command = '']) => command),
  )
  assert.ok(commands.length >= 6)
  // `doctor` checks the installation and takes no service.
  for (const command of commands.filter(line => !line.endsWith('--help') && line !== 'doctor')) {
    assert.match(command, new RegExp(` (--service )?${caller.service.name}( |$)`))
    assert.equal(await acceptsCommand(command), true, command)
  }
})

/** True if the program has this command with these arguments and options. Doesn't run it. */
async function acceptsCommand(commandLine: string) {
  const [name = '', verb, ...args] = commandLine.split(' ')
  const program = await buildProgram(name)
  let accepted = false
  const command = program.commands[0]?.commands.find(candidate => candidate.name() === verb)
  command?.action(() => {
    accepted = true
  })
  if (command) await program.parseAsync([name, verb ?? '', ...args], { from: 'user' })
  return accepted
}
