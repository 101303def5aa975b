import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Db, raw, sql } from '../../src/database/db.ts'
import { listAbandonedMoves } from '../../src/store/moves/moves.ts'
import { fillWithCanaries } from '../api/access/canaries.ts'
import { startWriting } from '../shards/following.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import {
  cli,
  createDirectory,
  type Environment,
  runCommand,
  runSuccessfully,
  startCommand,
  waitUntil,
} from '../support/processes.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { issueVoucher, stockGiftCards, voucherSettings } from '../support/voucher-shop.ts'
import { post } from '../support/write.ts'

const home = createDirectory()
const [file, identity] = [join(home, 'all.tillbridge'), join(home, 'identity')]
let api: TestApi
let neighbour: Caller
let environment: Environment
let digestsAtBackup: Record<string, string>
let cursor = ''

/** Tables that a restore in place doesn't replace, or whose rows change with each request. */
const excludedTables = /^(service|service_move|account.*|api_key|deprecated_use|audit|erasure|request_.*)$/

/** Returns a digest of the service's rows in each restored table. */
async function digestRows(db: Db, { service }: Pick<Caller, 'service'>) {
  const tables = await db.rows<{ name: string }>(sql`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'service_id'
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`)
  const digests: Record<string, string> = {}
  for (const { name } of tables.filter(table => !excludedTables.test(table.name))) {
    const row = await db.row<{ digest: string }>(sql`
      select count(*)::text || ' ' || md5(coalesce(string_agg(t::text, '' order by t::text), '')) as digest
        from ${raw(name)} t where service_id = ${service.id}`)
    digests[name] = row?.digest ?? ''
  }
  return digests
}

const buildArgs = (...options: string[]) => [
  'service',
  'restore',
  api.service.name,
  file,
  '--identity',
  identity,
  ...options,
]
const buildConfirmedArgs = () => buildArgs('--yes', api.service.name)
const addCustomer = (caller: Caller) => post(caller, '/customers', buildCustomer())
const getChanges = (from?: string) =>
  api.get(`/changes?kinds=customer&limit=1000${from === undefined ? '' : `&after_cursor=${from}`}`)

before(async () => {
  const settings = { ...voucherSettings, readsPerMinute: 'off', writesPerMinute: 'off' } as const
  api = await startTestApi({ settings })
  neighbour = await api.createService(settings)
  await api.db.run(sql`insert into installation (secret_digest) values (${api.keys.digest})`)
  const recipient = /^BACKUP_RECIPIENTS=(age1\w+)$/m.exec(
    await runSuccessfully(['backup', 'keygen', identity], {}),
  )?.[1]
  environment = {
    DATABASE_URL: api.database.connection,
    SECRET_KEY: api.secret,
    DATA_DIR: join(home, 'data'),
    BACKUP_RECIPIENTS: recipient ?? '',
  }
  for (const [i, shop] of [api, neighbour].entries()) {
    await fillWithCanaries(api, shop, `canary-${i}-`)
    await stockGiftCards(api, shop)
    assert.equal((await issueVoucher(shop)).status, 201)
    assert.equal((await addCustomer(shop)).status, 201)
  }
  await runSuccessfully(['backup', file], environment)
  digestsAtBackup = await digestRows(api.db, api)
})
after(() => api?.stop())

/** Changes the service after the backup. */
async function changeService() {
  assert.equal((await issueVoucher(api)).status, 201)
  assert.equal((await addCustomer(api)).status, 201)
  await runSuccessfully(['service', 'set', api.service.name, 'tombstoneRetentionDays=91'], environment)
  cursor = (await getChanges()).json.meta.endCursor
}

/** Asserts that the service has the rows and settings of the backup, and that clients start over. */
async function assertRestored() {
  assert.deepEqual(await digestRows(api.db, api), digestsAtBackup)
  const shown = await runSuccessfully(['service', 'show', api.service.name], environment)
  assert.match(shown, /^tombstoneRetentionDays = 90$/m)
  await waitUntil(async () => (await getChanges(cursor)).status === 410, 'cursors from before the restore have expired')
  assert.equal((await getChanges(cursor)).json.code, 'cursor_expired')
  const { status, json } = await getChanges()
  assert.equal(status, 200)
  const listed = await api.get('/customers/search?updated_after=2020-01-01%2000:00:00')
  assert.equal(json.data.length, listed.json.data.length)
}

test('a dry run shows the rows of each table and replaces nothing', async () => {
  await changeService()
  const digestsBefore = await digestRows(api.db, api)
  const out = await runSuccessfully(buildArgs('--dry-run'), environment)
  const [, current, stored] = /^customer +(\d+) +(\d+)$/m.exec(out) ?? []
  assert.equal(Number(current), Number(stored) + 1)
  assert.match(out, /Dry run: nothing was replaced/)
  assert.deepEqual(await digestRows(api.db, api), digestsBefore)
})

test('a service is restored only after typing its name', async () => {
  const program = ['sh', '-c', `echo no | '${process.execPath}' '${cli}' "$@"`, 'sh'] as const
  for (const [args, runOptions] of [
    [buildArgs(), { program }],
    [buildArgs('--yes', 'other'), {}],
  ] as const) {
    const { code, err } = await runCommand(args, environment, runOptions)
    assert.equal(code, 1)
    assert.match(err, /Nothing was replaced\.$/m)
  }
})

test('a backup without the service, or of another secret, is rejected', async () => {
  const { service } = await api.createService()
  const missing = await runCommand(['service', 'restore', service.name, file, '--identity', identity], environment)
  assert.equal(missing.code, 1)
  assert.match(missing.err, new RegExp(`doesn't contain ${service.name}\\. Services in it: `))
  const foreign = await runCommand(buildConfirmedArgs(), { ...environment, SECRET_KEY: 'x'.repeat(40) })
  assert.equal(foreign.code, 1)
})

test('a backup with other tables is rejected', async () => {
  const digestsBefore = await digestRows(api.db, api)
  // The database was migrated by the next release since the backup.
  await api.db.run(
    sql`insert into migration (number, name, sha256, requires) values (9999, '9999_next.sql', 'next', 0)`,
  )
  try {
    for (const args of [buildArgs('--dry-run'), buildConfirmedArgs()]) {
      const { code, err } = await runCommand(args, environment)
      assert.equal(code, 1)
      assert.match(err, /^tillbridge: The backup was written by \S+ \S+ and has other tables than this database\./m)
      assert.match(err, /Restore it into an empty installation/)
    }
  } finally {
    await api.db.run(sql`delete from migration where number = 9999`)
  }
  assert.deepEqual(await digestRows(api.db, api), digestsBefore)
  assert.equal((await addCustomer(api)).status, 201)
})

test('a role that cannot disable triggers is named with the remedy', async () => {
  const database = new URL(api.database.connection).pathname.slice(1)
  const role = `limited_${process.pid}`
  await api.db.run(raw(`create role ${role} login password 'limited' in role pg_read_all_data, pg_write_all_data`))
  try {
    await api.db.run(raw(`alter database ${database} owner to ${role}`))
    const url = new URL(api.database.connection)
    url.username = role
    url.password = 'limited'
    const { code, err } = await runCommand(buildArgs('--dry-run'), { ...environment, DATABASE_URL: String(url) })
    assert.equal(code, 1)
    assert.match(err, new RegExp(`grant set on parameter session_replication_role to ${role}`))
  } finally {
    await api.db.run(raw(`alter database ${database} owner to current_user`))
    await api.db.run(raw(`drop role ${role}`))
  }
})

test('a paused service is read, its writes wait, and others are served', async () => {
  const neighbourDigests = await digestRows(api.db, neighbour)
  const stream = api.request(`/changes/stream?kinds=customer&after_cursor=${cursor}`)
  const restore = startCommand(buildConfirmedArgs(), { ...environment, FAILPOINT: 'service_paused:stop' })
  await waitUntil(async () => (await addCustomer(api)).status === 503, 'writes are paused', 60_000)
  const rejected = await addCustomer(api)
  assert.equal(rejected.json.code, 'service_unavailable')
  assert.match(rejected.json.detail, /restored/)
  assert.ok(Number(rejected.headers['retry-after']) > 0)
  assert.equal((await getChanges(cursor)).status, 200)
  assert.deepEqual(await digestRows(api.db, neighbour), neighbourDigests)
  const load = startWriting(neighbour)
  restore.child.kill('SIGCONT')
  assert.equal((await restore.ended).code, 0, restore.err)
  const { ids, pauseCount } = await load.end()
  assert.ok(ids.length > 0)
  assert.equal(pauseCount, 0)
  assert.match(restore.out, /^Restored .* Writes paused for \d+\.\d s\.$/m)
  await assertRestored()
  assert.equal((await stream).status, 200)
  const audit = await api.get('/audit?limit=100')
  const entries = audit.json.data.filter(({ operation }: { operation: string }) => operation === 'service restore')
  assert.equal(entries.length, 1)
  assert.equal(entries[0].changes[0].field, 'backup')
  assert.equal((await addCustomer(api)).status, 201)
})

const waitUntilAbandoned = () =>
  waitUntil(async () => (await listAbandonedMoves(api.db)).length > 0, 'the lease of the restore expires', 60_000)

for (const [when, failpoint] of [
  ['during the pause', 'service_paused'],
  ['before its commit', 'service_rows_replaced'],
] as const)
  test(`a restore killed ${when} leaves the service as it was`, async () => {
    await changeService()
    const digestsBefore = await digestRows(api.db, api)
    const killed = startCommand(buildConfirmedArgs(), { ...environment, FAILPOINT: failpoint })
    assert.equal((await killed.ended).signal, 'SIGKILL', killed.err)
    assert.deepEqual(await digestRows(api.db, api), digestsBefore)
    assert.equal((await addCustomer(api)).status, 503)
    const rejectedUndo = await runCommand(['service', 'restore', api.service.name, '--undo'], environment)
    if (rejectedUndo.code) {
      assert.match(rejectedUndo.err, /Another process is restoring/)
      await waitUntilAbandoned()
      const doctor = await runCommand(['doctor'], environment)
      assert.match(doctor.out, /is being restored, interrupted \d+ s ago\. .*tillbridge service restore \S+ --undo/)
      const moved = await runCommand(['service', 'move', api.service.name, '--undo'], environment)
      assert.match(moved.err, /is being restored\. .*tillbridge service restore/)
      await runSuccessfully(['service', 'restore', api.service.name, '--undo'], environment)
    }
    assert.equal((await addCustomer(api)).status, 201)
  })

test('a worker ends a restore that was killed after its commit', async () => {
  await changeService()
  const killed = startCommand(buildConfirmedArgs(), { ...environment, FAILPOINT: 'service_restored' })
  assert.equal((await killed.ended).signal, 'SIGKILL', killed.err)
  await assertRestored()
  await waitUntilAbandoned()
  const worker = startCommand(['worker'], { ...environment, LOG_LEVEL: 'warn' })
  await waitUntil(async () => (await listAbandonedMoves(api.db)).length === 0, 'a worker finishes the restore', 60_000)
  worker.child.kill()
  await worker.ended
  assert.equal((await addCustomer(api)).status, 201)
})
