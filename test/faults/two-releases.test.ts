import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { callOperation, listOperations } from '../api/access/documented.ts'
import { createNamedShop, findRecordId } from '../api/access/named-shop.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import {
  checkout,
  createDirectory,
  type RunningServer,
  runCommand,
  runSuccessfully,
  serve,
  stopServer,
} from '../support/processes.ts'
import { buildCredentials, captureLog, createRequester } from '../support/servers.ts'
import { type Caller, startTestApi } from '../support/service.ts'
import { clearFailures, voucherSettings } from '../support/voucher-shop.ts'
import { post, withKey } from '../support/write.ts'

const captured = captureLog('error')
const olderApi = await startTestApi({
  log: captured.log,
  settings: voucherSettings,
  environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' },
})
after(() => olderApi.stop())

/** Copies a release and adds migrations to it. Returns the directory. */
function createRelease(from: string, migrations: readonly string[]): string {
  const tree = join(createDirectory(), 'release')
  mkdirSync(tree)
  for (const part of ['src', 'seed', 'migrations', 'console', 'package.json', 'CHANGELOG.md'])
    cpSync(join(from, part), join(tree, part), { recursive: true })
  symlinkSync(join(checkout, 'node_modules'), join(tree, 'node_modules'))
  const number = readdirSync(join(tree, 'migrations')).filter(name => /^\d{4}_/.test(name)).length
  for (const [i, text] of migrations.entries())
    writeFileSync(join(tree, `migrations/${String(number + i + 1).padStart(4, '0')}_next.sql`), text)
  return tree
}

/** Creates the next release, whose migrations add a column to each table with `service_id`. */
async function createNextRelease(): Promise<string> {
  const tables = await olderApi.db.rows<{ name: string }>(sql`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'service_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`)
  assert.ok(tables.length > 20, `${tables.length}`)
  const column = `add column of_the_next_release text default 'later'`
  const texts: string[] = []
  while (tables.length)
    texts.push(
      tables
        .splice(0, 4)
        .map(({ name }) => `alter table ${name} ${column};\n`)
        .join(''),
    )
  return createRelease(checkout, texts)
}

/** Returns the run options of a release. */
const getProgram = (tree: string) => ({ program: [process.execPath, join(tree, 'src/cli.js')] as const })

/** Returns the same caller at another server. */
function createCallerAt({ baseUrl, caFile = '' }: RunningServer, by: Caller): Caller {
  const sendRequest = createRequester({ baseUrl, ca: readFileSync(caFile, 'utf8') })
  const request: Caller['request'] = (path, { method = 'GET', headers = {}, body } = {}) =>
    sendRequest(path, {
      method,
      headers: Object.assign(buildCredentials(by), headers) as Record<string, string>,
      ...(body !== undefined && { body: String(body) }),
    })
  return Object.assign({}, by, { request, get: (path: string) => request(path) })
}

test('two consecutive releases serve one database without failed requests during migration', async () => {
  const { shop, names } = await createNamedShop(olderApi)
  // Operations that revoke a password or change later responses run once.
  const excluded = ['updateSettings', 'updateAccount', 'rotatePassword', 'revokeAccount', 'createAccount']
  const operations = listOperations((await olderApi.sendRaw('/openapi.json')).json).filter(
    ({ id }) => !excluded.includes(id),
  )
  /** Calls all operations, in pairs, so that connections prepare many statements. Returns the failures. */
  async function callAllOperations(by: Caller) {
    const failed: string[] = []
    for (const operation of operations) {
      await clearFailures(olderApi)
      const identifiers = [findRecordId(operation.path, names) ?? 'nobody', 'nobody']
      const responses = await Promise.all(identifiers.map(identifier => callOperation(by, operation, { identifier })))
      failed.push(...responses.filter(({ status }) => status >= 500).map(({ text }) => `${operation.id}: ${text}`))
    }
    return failed
  }
  assert.deepEqual(await callAllOperations(shop), [])
  const tree = await createNextRelease()
  let isOver = false
  const trafficStatuses = (async () => {
    const statuses = new Map<number, number>()
    while (!isOver) {
      const responses = await Promise.all([
        shop.get('/customers/search?limit=10'),
        shop.get(`/orders/${names.order}`),
        shop.get('/changes?limit=10'),
        post(shop, '/customers', buildCustomer(), withKey()),
      ])
      for (const { status } of responses) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    return statuses
  })()
  const newer = await serve(['--no-demo'], createEnvironment('next'), getProgram(tree)).finally(() => {
    isOver = true
  })
  try {
    assert.deepEqual([[...(await trafficStatuses).keys()].sort(), captured.text], [[200, 201], ''])
    const column = sql`select from information_schema.columns where table_name = 'customer' and column_name = 'of_the_next_release'`
    assert.equal(await olderApi.db.run(column), 1)
    const next = createCallerAt(newer, shop)
    assert.deepEqual(await callAllOperations(shop), [])
    assert.deepEqual(await callAllOperations(next), [])
    await assertShared(shop, next)
    await assertRollback(shop, next)
    await assertContract(shop, next, tree)
  } finally {
    await stopServer(newer)
  }
})

const createEnvironment = (name: string) => ({
  DATA_DIR: join(createDirectory(), name),
  DATABASE_URL: olderApi.database.connection,
  SECRET_KEY: olderApi.secret,
  RUN_JOBS: 'false',
})

/** Checks that each process reads what the other one writes. */
async function assertShared(first: Caller, second: Caller) {
  for (const [writes, reads] of [
    [first, second],
    [second, first],
  ] as const) {
    const created = await post(writes, '/customers', buildCustomer(), withKey())
    assert.equal(created.status, 201, created.text)
    const read = await reads.get(`/customers/${created.json.data.id}`)
    assert.deepEqual(read.json.data, created.json.data)
  }
}

/** Checks that the older release starts on the database of the newer one, next to it. */
async function assertRollback(shop: Caller, next: Caller) {
  const environment = createEnvironment('rolled-back')
  const rolledBack = await serve(['--no-demo'], environment)
  try {
    await assertShared(createCallerAt(rolledBack, shop), next)
    const { out } = await runCommand(['doctor'], environment)
    assert.match(out, /^PASS {2}Database .*\d+ migrations \(\d+ of a newer release\)/m)
  } finally {
    await stopServer(rolledBack)
  }
}

/** Checks that a release can remove what the release before it no longer uses, and that only older releases are rejected after that. */
async function assertContract(shop: Caller, next: Caller, tree: string) {
  const latest = readdirSync(join(tree, 'migrations')).filter(name => /^\d{4}_/.test(name)).length
  const required = String(latest).padStart(4, '0')
  const afterNext = createRelease(tree, [
    `-- contract: requires ${required}\nalter table customer drop column of_the_next_release;\n`,
  ])
  const environment = createEnvironment('after-next')
  assert.match(await runSuccessfully(['migrate'], environment, getProgram(afterNext)), /^Applied: \d{4}_next\.sql\.\n$/)
  await assertShared(shop, next)
  assert.equal(await runSuccessfully(['migrate'], environment, getProgram(tree)), 'The database is up to date.\n')
  const { code, err } = await runCommand(['start', '--no-demo'], environment)
  assert.equal(code, 1)
  assert.match(err, new RegExp(`The database is at migration ${latest + 1} and requires ${latest}, .*run a newer`))
}
