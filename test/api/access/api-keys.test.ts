import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import type { ApiKeyInput } from '../../../client/src/index.ts'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { sql } from '../../../src/database/db.ts'
import { routes, scopes } from '../../../src/resources/resources.ts'
import { addAccount, assignRole, toApiKey } from '../../../src/store/accounts/accounts.ts'
import { createAccount, newUsername } from '../../support/accounts.ts'
import { assertRejected } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { startSecondServer } from '../../support/servers.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

const logged: string[] = []
const api = await startTestApi({
  settings: { readsPerMinute: 'off', writesPerMinute: 'off', requestLogRetentionDays: 0 },
  environment: { LOG_REQUESTS: 'all' },
  log: pino({ level: 'debug' }, { write: line => void logged.push(line) }),
})
after(() => api.stop())

type Scope = NonNullable<ApiKeyInput['scopes']>[number]

interface IssuedKey {
  key: string
  headers: Record<string, string>
  get(path: string, method?: string): ReturnType<typeof api.sendRaw>
}

/** Creates a key of an account, and returns it with a function that sends requests with it. */
async function createKey(admin: Caller, username: string, input: ApiKeyInput): Promise<IssuedKey> {
  const response = await post(admin, `/accounts/${username}/keys`, input)
  assert.equal(response.status, 201, response.text)
  const { key, apiKey } = response.json.data
  const headers = { authorization: `Basic ${apiKey}`, 'x-service-name': admin.service.name }
  return { key, headers, get: (path, method = 'GET') => api.sendRaw(path, { method, headers }) }
}

const write = (key: IssuedKey, method: string, path: string, body: object = {}) =>
  api.sendRaw(path, {
    method,
    headers: { ...key.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const waitForStatus = (key: IssuedKey, status: number) =>
  waitUntil(async () => (await key.get('/stores')).status === status, `status ${status}`, 5_000)

test('a key calls exactly the operations of its scope', async () => {
  assert.ok(scopes.length > 35, `${scopes.length}`)
  const operations = routes.map(({ operation, type }) => ({
    ...operation,
    isStream: type === 'stream',
    url: operation.path.replaceAll(/:\w+/g, 'none'),
  }))
  const call = async (key: IssuedKey, { method, url, isStream, scope }: (typeof operations)[number]) => {
    // A permitted stream would never end.
    const response = await (method === 'POST' || method === 'PUT'
      ? write(key, method, url)
      : key.get(url, isStream ? 'HEAD' : method))
    if (isStream) return response.status !== 403
    if (response.json?.code !== 'insufficient_scope') return true
    const detail =
      scope === 'none'
        ? /^API keys can't change accounts/
        : new RegExp(`^This requires the scope \`${scope}\`\\. The API key \`key-\\d+\` doesn't have it\\.$`)
    assert.match(response.json.detail, detail, url)
    return false
  }
  let account = ''
  for (const [i, own] of [...scopes, null].entries()) {
    if (i % 20 === 0) account = (await createAccount(api, 'admin')).username
    const key = await createKey(api, account, { name: `key-${i}`, scopes: own === null ? null : [own as Scope] })
    const permitted = await Promise.all(operations.map(operation => call(key, operation)))
    for (const [index, { scope, operationId }] of operations.entries()) {
      const isExpected = scope === 'any' || scope === own || (own === null && scope !== 'none')
      assert.equal(permitted[index], isExpected, `${operationId} with a key of ${own ?? 'all scopes'}`)
    }
  }
  for (const { scope, tag } of operations)
    assert.ok(['any', 'none'].includes(scope) ? tag === 'Accounts' : scopes.includes(scope), scope)
})

test('a key for stores calls only operations that name its stores', async () => {
  const { username } = await createAccount(api, 'admin')
  const key = await createKey(api, username, { name: 'pos', stores: ['101', '102'] })
  const isLimited = ({ json }: { json?: { code: string; detail: string } }) =>
    json?.code === 'insufficient_scope' && /limited to/.test(json.detail)
  const sources: Record<string, number> = {}
  for (const { operation, type } of routes) {
    const { method, path, storeSource, scope, operationId } = operation
    if (type === 'stream' || scope === 'none') continue
    sources[storeSource] = (sources[storeSource] ?? 0) + 1
    const call = async (store?: string) => {
      const url = path.replace(':storeNumber', store ?? 'none').replaceAll(/:\w+/g, 'none')
      const query = storeSource === 'query' && store !== undefined ? `?store_number=${store}` : ''
      return isLimited(
        await (method === 'GET' || method === 'DELETE' ? key.get(url + query, method) : write(key, method, url)),
      )
    }
    if (storeSource === 'free') assert.equal(await call(), false, operationId)
    if (storeSource === 'none') assert.equal(await call(), true, operationId)
    if (storeSource !== 'path' && storeSource !== 'query') continue
    assert.equal(await call('101'), false, operationId)
    for (const store of ['103', undefined]) assert.equal(await call(store), true, `${operationId} ${store}`)
  }
  assert.deepEqual(Object.keys(sources).sort(), ['body', 'free', 'none', 'path', 'query'])
  const buildLine = (storeNumber?: string) => ({ sku: 'X', quantity: 1, ...(storeNumber && { storeNumber }) })
  const reserve = (...lines: object[]) => write(key, 'POST', '/reservations', { reference: 'R-1', lines })
  assert.equal(isLimited(await reserve(buildLine('101'), buildLine('102'))), false)
  for (const lines of [
    [buildLine('101'), buildLine('103')],
    [buildLine('101'), buildLine()],
  ])
    assert.equal(isLimited(await reserve(...lines)), true)
  const ship = (body: object) => write(key, 'POST', '/orders/none/shipments', body)
  assert.equal(isLimited(await ship({ storeNumber: '102' })), false)
  assert.equal(isLimited(await ship({})), true)
  const twoStores = await key.get('/inventory?store_number=101&store_number=103')
  assert.equal(isLimited(twoStores), true)
})

test('a key is shown once and only its hash is stored', async () => {
  const { username } = await createAccount(api, 'maintainer')
  const input = { name: 'web-1', scopes: ['orders:read', 'products:read'], expiresInDays: 90 }
  const { status, json, headers } = await post(api, `/accounts/${username}/keys`, input)
  assert.equal(status, 201)
  const { key, apiKey, createdAt, expiresAt, ...created } = json.data
  assert.match(key, /^tbk_[\w-]{43}$/)
  assert.equal(apiKey, toApiKey(username, key))
  assert.deepEqual(created, { name: 'web-1', scopes: input.scopes, stores: null, lastUsedAt: null })
  assert.equal(Date.parse(`${expiresAt}Z`) - Date.parse(`${createdAt}Z`), 90 * 24 * 3_600_000)
  const record = { ...created, createdAt, expiresAt }
  assert.deepEqual((await api.get(String(headers.location))).json.data, record)
  assert.deepEqual((await api.get(`/accounts/${username}/keys`)).json.data, [record])
  const stored = await api.db.rows<{ row: string }>(sql`select k::text as row from api_key k`)
  const secret = Buffer.from(key.slice(4), 'base64url').toString('hex')
  assert.ok(stored.length && stored.every(({ row }) => !row.includes(key) && !row.includes(secret)))
})

test('invalid keys and taken names are rejected', async () => {
  const { username } = await createAccount(api, 'visitor')
  const create = (body: object) => post(api, `/accounts/${username}/keys`, body)
  assert.equal((await create({ name: 'one' })).status, 201)
  assertProblem(await create({ name: 'one' }), 'key_name_taken', api.baseUrl)
  assertRejected(api, await create({ name: 'two', scopes: ['orders'] }), 'invalid_field', '/scopes/0')
  assertRejected(api, await create({ name: 'two', scopes: [] }), 'invalid_field', '/scopes')
  assertRejected(api, await create({ name: 'two words' }), 'invalid_field', '/name')
  assertRejected(api, await create({ name: 'two', expiresInDays: 0 }), 'invalid_field', '/expiresInDays')
  for (const path of ['/accounts/nobody/keys', `/accounts/${username}/keys/none`])
    assert.equal((await api.get(path)).status, 404, path)
  assert.equal((await post(api, '/accounts/nobody/keys', { name: 'one' })).status, 404)
  for (let i = 0; i < 19; i++) assert.equal((await create({ name: `more-${i}` })).status, 201)
  assertRejected(api, await create({ name: 'last' }), 'invalid_field', '/name')
})

test("a key never exceeds its account's role or service", async () => {
  const other = await api.createService()
  const username = newUsername()
  await addAccount(api.db, api.keys, username, api.service, 'admin')
  await addAccount(api.db, api.keys, username, other.service, 'admin')
  const key = await createKey(api, username, { name: 'all' })
  const me = (await key.get('/me')).json.data
  assert.deepEqual(me.key, { name: 'all', scopes: null, stores: null })
  assert.deepEqual(me.services, [{ name: api.service.name, role: 'admin' }])
  const otherServiceHeaders = { ...key.headers, 'x-service-name': other.service.name }
  assertProblem(
    await api.sendRaw('/stores', { headers: otherServiceHeaders }),
    'service_not_assigned',
    api.baseUrl,
    '/stores',
  )
  assert.deepEqual((await other.get(`/accounts/${username}/keys`)).json.data, [])
  assert.equal((await key.get('/settings')).status, 200)
  await assignRole(api.db, username, api.service, 'visitor')
  await waitUntil(async () => (await key.get('/settings')).json.code === 'insufficient_role', 'the lower role', 5_000)
  assert.equal((await key.get('/stores')).status, 200)
})

test('a key can neither issue credentials nor open a console session', async () => {
  const { username } = await createAccount(api, 'admin')
  const key = await createKey(api, username, { name: 'all' })
  for (const [method, path, body] of [
    ['POST', '/accounts', { username: newUsername(), role: 'admin' }],
    ['POST', `/accounts/${username}/keys`, { name: 'more' }],
    ['POST', `/accounts/${username}/rotate`, {}],
    ['PUT', `/accounts/${username}`, { role: 'admin' }],
  ] as const)
    assertProblem(await write(key, method, path, body), 'insufficient_scope', api.baseUrl, path)
  const session = await api.sendRaw('/console/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' },
    body: JSON.stringify({ username, password: key.key }),
  })
  assert.equal(session.json.code, 'invalid_credentials')
})

test('a revoked or expired key is rejected within five seconds', async () => {
  const { username, password } = await createAccount(api, 'visitor')
  const [revoked, expired, active] = [
    await createKey(api, username, { name: 'revoked' }),
    await createKey(api, username, { name: 'expired', expiresInDays: 1 }),
    await createKey(api, username, { name: 'active' }),
  ]
  for (const key of [revoked, expired, active]) await waitForStatus(key, 200)
  const { status } = await api.request(`/accounts/${username}/keys/revoked`, { method: 'DELETE' })
  assert.equal(status, 200)
  await api.db.run(sql`update api_key set expires_at = now() where username = ${username} and name = 'expired'`)
  await Promise.all([revoked, expired].map(key => waitForStatus(key, 401)))
  await waitForStatus(active, 200)
  const headers = { authorization: `Basic ${toApiKey(username, password)}`, 'x-service-name': api.service.name }
  assert.equal((await api.sendRaw('/stores', { headers })).status, 200)
  assert.equal((await post(api, `/accounts/${username}/revoke`, {})).status, 200)
  await waitForStatus(active, 401)
})

test("a rotation replaces a key's hash once, at its next use", async () => {
  const { username } = await createAccount(api, 'visitor')
  const key = await createKey(api, username, { name: 'rotated' })
  await api.db.run(sql`create table replaced_hash (replaced_at timestamptz default now())`)
  await api.db.run(sql`
    create function count_replaced_hash() returns trigger language plpgsql as
    $$ begin insert into replaced_hash default values; return null; end $$`)
  await api.db.run(sql`
    create trigger replaced_hash after update of key_hash on api_key for each statement execute function count_replaced_hash()`)
  const { lookup, cursors, subjects } = api.keys
  const keys = { ...deriveKeys('a newer secret'), lookup, cursors, subjects, otherKeys: [api.keys] }
  const other = await startSecondServer({ db: api.db, keys })
  try {
    const countReplaced = () => api.db.run(sql`select from replaced_hash`)
    const getStatus = async () => (await other.sendRequest('/stores', { headers: key.headers })).status
    assert.equal(await getStatus(), 200)
    await waitUntil(async () => (await countReplaced()) > 0, 'the hash is replaced', 5_000)
    for (let i = 0; i < 5; i++) assert.equal(await getStatus(), 200)
    assert.equal(await countReplaced(), 1)
  } finally {
    await api.db.run(sql`drop trigger replaced_hash on api_key`)
    await other.stop()
  }
})

test('the audit log, the log and the last use name the key', async () => {
  const { username } = await createAccount(api, 'admin')
  const key = await createKey(api, username, { name: 'named', scopes: ['service:write'] })
  assert.equal((await write(key, 'PUT', '/settings', { retailerName: 'Luma' })).status, 200)
  const entries = (await api.get(`/audit?account=${username}`)).json.data
  assert.deepEqual(
    entries.map((entry: { apiKey: string; operation: string }) => [entry.operation, entry.apiKey]),
    [['PUT /settings', 'named']],
  )
  const [own] = (await api.get('/audit?asc=false&limit=1')).json.data
  assert.equal(own.apiKey, 'named')
  const isUsed = async () => (await api.get(`/accounts/${username}/keys/named`)).json.data.lastUsedAt !== null
  await waitUntil(isUsed, 'its last use is stored', 10_000)
  await waitUntil(() => logged.some(line => line.includes('"apiKey":"named"')), 'the log contains its name', 5_000)
  assert.ok(logged.every(line => !line.includes(key.key)))
})

test('the response to a rate-limited key names the key', async () => {
  const limited = await api.createService({ readsPerMinute: 2 })
  const key = await createKey(limited, limited.username, { name: 'busy' })
  for (let i = 0; i < 2; i++) await key.get('/stores')
  const response = await key.get('/stores')
  assertProblem(response, 'rate_limited', api.baseUrl, '/stores')
  assert.match(response.json.detail, /the API key `busy`/)
})

test("a key that can read settings can't change them", async () => {
  const reader = await createKey(api, api.username, { name: 'reader', scopes: ['service:read'] })
  assert.equal((await reader.get('/settings')).status, 200)
  assertProblem(await write(reader, 'PUT', '/settings'), 'insufficient_scope', api.baseUrl, '/settings')
  assert.equal((await put(api, '/settings', {})).status, 200)
})
