import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildCustomer } from '../support/customer-bodies.ts'
import {
  connectToDatabase,
  createDirectory,
  createServiceAccess,
  isHalted,
  type RunningServer,
  readAccess,
  runSuccessfully,
  serve,
  startCommand,
  stopServer,
  waitUntil,
} from '../support/processes.ts'
import { buildBasicAuth, createRequester } from '../support/servers.ts'
import { withKey } from '../support/write.ts'
import { createServers } from './servers.ts'

const home = createDirectory()
const environment = { DATA_DIR: join(home, 'data') }
const servers = createServers(home)
let server: RunningServer
let shopName: string
let sendRequest: ReturnType<typeof createRequester>
let headers: Record<string, string>

before(async () => {
  server = await serve([], environment)
  const access = readAccess(environment.DATA_DIR)
  shopName = access.serviceName
  headers = { authorization: buildBasicAuth(`${access.username}:${access.password}`), 'x-service-name': shopName }
  sendRequest = createRequester({ baseUrl: server.baseUrl, ca: readFileSync(server.caFile ?? '', 'utf8') })
  const file = join(home, 'east.url')
  const url = await servers.start('east')
  writeFileSync(file, url)
  await runSuccessfully(['shard', 'add', 'east', '--url-file', file], environment)
})
after(async () => {
  await stopServer(server)
  await servers.stop()
})

const paths = [
  '/stores',
  '/staff',
  '/products',
  '/inventory',
  '/customers/search',
  '/orders/transactions/search',
  '/audit',
]

/** Returns the records and the `asOf` of each list, by path. */
async function readRecords() {
  const lists = new Map<string, { asOf: unknown; lines: string[] }>()
  for (const path of paths) {
    const response = await sendRequest(path, { headers: { ...headers, accept: 'application/x-ndjson' } })
    if (response.status === 200)
      lists.set(path, { asOf: response.headers['x-as-of'], lines: response.text.split('\n').toSorted() })
  }
  return lists
}

const post = (path: string, body: object, key = withKey()) =>
  sendRequest(path, {
    method: 'POST',
    headers: { ...headers, ...key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('a shop moves out of the bundled database completely', async () => {
  const account = [{ username: 'before', role: 'visitor' }, withKey()] as const
  const created = await post('/accounts', ...account)
  assert.equal(created.status, 201)
  const original = await readRecords()
  assert.deepEqual([...original.keys()], paths)
  assert.ok((original.get('/products')?.lines.length ?? 0) > 100)

  const output = await runSuccessfully(['service', 'move', shopName, '--to', 'east'], environment)
  assert.match(output, /Old copy of .* deleted/)

  const moved = await readRecords()
  for (const [path, list] of original) assert.deepEqual(moved.get(path), list, path)
  const repeated = await post('/accounts', ...account)
  assert.deepEqual([repeated.text, repeated.headers['idempotent-replayed']], [created.text, 'true'])
  assert.equal((await post('/customers', buildCustomer())).status, 201)
  assert.equal((await post('/accounts', { username: 'after', role: 'visitor' })).status, 201)
  const listAuditSubjects = async () => {
    const { json } = await sendRequest('/audit?limit=100', { headers })
    return json.data.map(({ subject }: { subject: string }) => subject) as string[]
  }
  await waitUntil(
    async () => (await listAuditSubjects()).includes('/accounts/after'),
    'the audit entry is forwarded',
    30_000,
  )
  const accounts = (await listAuditSubjects()).filter(subject => subject.startsWith('/accounts/'))
  assert.deepEqual(accounts.toSorted(), ['/accounts/after', '/accounts/before'], 'each audit entry must exist once')

  const client = await connectToDatabase(environment.DATA_DIR)
  try {
    const { rows } = await client.query<{ name: string }>(`
      select c.oid::regclass::text as name from pg_class c join pg_attribute a on attrelid = c.oid and attname = 'service_id'
       where relkind = 'r' and relname not in ('service', 'account_service', 'account_use', 'api_key', 'audit', 'idempotent_response')`)
    for (const { name: table } of rows) {
      const remaining = await client.query(`select from ${table} where service_id is not null`)
      assert.equal(remaining.rowCount, 0, `${table} must be empty`)
    }
  } finally {
    await client.end()
  }
})

test('a late process does not undo a switch that another one finished', { timeout: 150_000 }, async () => {
  const { username, password, serviceName } = await createServiceAccess(environment, 'nova')
  const access = { authorization: buildBasicAuth(`${username}:${password}`), 'x-service-name': serviceName }
  const send = (method: string, path: string, body?: object) =>
    sendRequest(path, {
      method,
      headers: { ...access, ...withKey(), 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  const mover = startCommand(['service', 'move', 'nova', '--to', 'east'], {
    ...environment,
    FAILPOINT: 'service_switch_recorded:stop',
  })
  await waitUntil(() => isHalted(mover.pid), 'the switch is recorded', 60_000)
  await waitUntil(
    async () => (await send('POST', '/customers', buildCustomer())).status === 201,
    'a worker finishes the move',
    60_000,
  )
  mover.child.kill('SIGCONT')
  assert.equal((await mover.ended).code, 1)
  assert.match(mover.err, /Another process has taken over the move/)
  const { status, json } = await send('GET', '/customers/search?updated_after=2020-01-01%2000:00:00')
  assert.deepEqual([status, json.data.length], [200, 1])
})
