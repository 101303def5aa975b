import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { addAccount, toApiKey } from '../../../src/store/accounts/accounts.ts'
import { createAccount, getStatusWithPassword, newUsername } from '../../support/accounts.ts'
import { assertRejected } from '../../support/customer-bodies.ts'
import { assertProblem, withoutRequestData } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ settings: { writesPerMinute: 'off', readsPerMinute: 'off' } })
})
after(() => api.stop())

const listUsernames = async (admin: Caller, query = '') =>
  (await admin.get(`/accounts${query}`)).json.data.map(({ username }: { username: string }) => username)

/** Waits up to 5 s, the time a change needs to apply, until a request with these credentials returns this status. */
const waitForStatus = (admin: Caller, credentials: { username: string; password: string }, status: number) =>
  waitUntil(async () => (await getStatusWithPassword(api, admin, credentials)) === status, `status ${status}`, 5_000)

test('a new account can sign in immediately with the returned API key', async () => {
  const username = 'Frau Müller/Kasse 3'
  const response = await post(api, '/accounts', { username, role: 'maintainer' })
  assert.equal(response.status, 201, response.text)
  const { password, apiKey, since, ...account } = response.json.data
  assert.deepEqual(account, { username, role: 'maintainer', isProgram: false, passwords: 1 })
  assert.match(since, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  assert.equal(Buffer.from(password, 'base64url').length, 32)
  assert.equal(apiKey, Buffer.from(`${username}:${password}`).toString('base64'))
  const { location } = response.headers
  assert.equal(location, '/accounts/Frau%20M%C3%BCller%2FKasse%203')
  const headers = { authorization: `Basic ${apiKey}`, 'x-service-name': api.service.name }
  assert.equal((await api.sendRaw('/stores', { headers })).status, 200)
  assert.equal((await api.sendRaw('/settings', { headers })).status, 403)
  assert.deepEqual((await api.get(String(location))).json.data, { ...account, since })
})

test('programs and people are listed apart', async () => {
  const caller = await api.createService()
  const created = await post(caller, '/accounts', { username: 'till 7', role: 'visitor', isProgram: true })
  assert.equal(created.json.data.isProgram, true)
  const list = async (query: string) =>
    (await caller.get(`/accounts${query}`)).json.data.map(({ username }: { username: string }) => username)
  assert.deepEqual(await list('?is_program=true'), ['till 7'])
  assert.deepEqual(await list('?is_program=false'), [caller.username])
  assert.deepEqual((await list('')).sort(), ['till 7', caller.username].sort())
})

test('every account can read its own role, limits and services', async () => {
  const visitor = await api.createAccount('visitor')
  const get = async (caller: Caller) => (await caller.get('/me')).json.data
  const { name } = api.service
  const services = [{ name, role: 'visitor' }]
  const limits = { readsPerMinute: null, writesPerMinute: null }
  assert.deepEqual(await get(visitor), { username: visitor.username, role: 'visitor', limits, services, key: null })
  const own = await get(api)
  assert.deepEqual([own.username, own.role], [api.username, 'admin'])
  assertProblem(await api.sendRaw('/me'), 'invalid_credentials', api.baseUrl)
})

test('an account reads all its services, whichever one it names', async () => {
  const other = await api.createService()
  const username = newUsername()
  const password = await addAccount(api.db, api.keys, username, api.service, 'maintainer')
  await addAccount(api.db, api.keys, username, other.service, 'visitor')
  const authorization = `Basic ${toApiKey(username, password ?? '')}`
  for (const [service, role] of [
    [api.service.name, 'maintainer'],
    [other.service.name, 'visitor'],
  ] as const) {
    const { json } = await api.sendRaw('/me', { headers: { authorization, 'x-service-name': service } })
    assert.equal(json.data.role, role)
    assert.deepEqual(
      json.data.services.map((entry: { name: string }) => entry.name),
      [api.service.name, other.service.name].sort(),
    )
  }
})

test('a username that looks like another or a reserved one is rejected', async () => {
  const create = async (username: string) => {
    const { status, json } = await post(api, '/accounts', { username, role: 'visitor' })
    return `${status} ${json.code ?? json.data.username}`
  }
  assert.equal(await create('Back Office 1'), '201 Back Office 1')
  for (const similarName of [
    'Back Office 1',
    'back office 1',
    'Back  Office 1',
    'BackOffice1',
    'Back Office l',
    'B\u0430ck Office 1',
    'B\u0430\u0441k Offi\u0441e I',
    'B\u0430ck \u041effice 1',
  ])
    assert.equal(await create(similarName), '409 username_taken', similarName)
  for (const reserved of ['t\u0456llbridge (command line)', 'Ti11bridge (command line)', 'till bridge (command line)'])
    assert.equal(await create(reserved), '409 username_taken', reserved)
  for (const invalid of [
    'tillbridge (command line)',
    'Tillbridge',
    ' padded',
    'padded ',
    '\u00a0padded',
    'zero\u200bwidth',
    'soft\u00adhyphen',
    '\uff41bc',
    'line\u2028break',
    '\ufb01ne',
    'e\u0301',
  ])
    assert.match(await create(invalid), /^422 invalid_field$/, JSON.stringify(invalid))
})

test("an account list contains only the service's accounts, by name, in pages", async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  await createAccount(other, 'admin')
  const names = [caller.username]
  for (const role of ['visitor', 'admin', 'maintainer'] as const)
    names.push((await createAccount(caller, role)).username)
  const shared = await createAccount(other, 'admin')
  await addAccount(api.db, api.keys, shared.username, caller.service, 'visitor')
  names.push(shared.username)
  assert.deepEqual(await listUsernames(caller), names.toSorted())
  const roles = (await caller.get('/accounts')).json.data.map(({ role }: { role: string }) => role).sort()
  assert.deepEqual(roles, ['admin', 'admin', 'maintainer', 'visitor', 'visitor'])
  const paginatedNames: string[] = []
  for (let query = '?limit=2'; query; ) {
    const { json } = await caller.get(`/accounts${query}`)
    paginatedNames.push(...json.data.map(({ username }: { username: string }) => username))
    query = json.meta.hasNextPage ? `?limit=2&after_cursor=${json.meta.endCursor}` : ''
  }
  assert.deepEqual(paginatedNames, names.toSorted())
})

test('an account shows when it last used the service, if it did', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  const [used, unused] = [await createAccount(caller, 'visitor'), await createAccount(caller, 'visitor')]
  await addAccount(api.db, api.keys, used.username, other.service, 'visitor')
  assert.equal(await getStatusWithPassword(api, caller, used, '/stores'), 200)
  const getLastUsedAt = async (viewer: Caller, { username }: { username: string }) =>
    (await viewer.get('/accounts')).json.data.find((record: { username: string }) => record.username === username)
      .lastUsedAt
  await waitUntil(async () => (await getLastUsedAt(caller, used)) !== null, 'its use is recorded', 10_000)
  assert.match(await getLastUsedAt(caller, used), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  assert.deepEqual([await getLastUsedAt(caller, unused), await getLastUsedAt(other, used)], [null, null])
  // The last use of an account is stored once a minute, and doesn't change its ETag.
  const readStoredUse = () =>
    api.db.row<{ xmin: string }>(
      sql`select xmin::text from account_use where service_id = ${caller.service.id} and username = ${used.username}`,
    )
  const original = await readStoredUse()
  const path = `/accounts/${used.username}`
  const { etag } = (await caller.get(path)).headers
  await getStatusWithPassword(api, caller, used, '/stores')
  await waitUntil(
    async () => (await getLastUsedAt(caller, { username: caller.username })) !== null,
    'the later use is recorded',
    10_000,
  )
  assert.deepEqual([await readStoredUse(), (await caller.get(path)).headers.etag], [original, etag])
})

test('a role change applies within 5 seconds and never overwrites another change', async () => {
  const caller = await api.createService()
  const colleague = await createAccount(caller, 'visitor')
  const path = `/accounts/${colleague.username}`
  const initial = await caller.get(path)
  const match = { 'if-match': String(initial.headers.etag) }
  const changed = await put(caller, path, { role: 'admin' }, match)
  assert.equal(changed.json.data.role, 'admin', changed.text)
  const now = await caller.get(path)
  assert.deepEqual([now.json.data, now.headers.etag], [changed.json.data, changed.headers.etag])
  await waitUntil(
    async () => (await getStatusWithPassword(api, caller, colleague, '/settings')) === 200,
    'the role applies',
    5_000,
  )
  assertProblem(await put(caller, path, { role: 'visitor' }, match), 'precondition_failed', api.baseUrl, path)
  assert.equal((await caller.get(path)).json.data.role, 'admin')
  assert.equal((await put(caller, path, { role: 'visitor' })).json.data.role, 'visitor')
  await waitUntil(
    async () => (await getStatusWithPassword(api, caller, colleague, '/settings')) === 403,
    'the lower role applies',
    5_000,
  )
})

test('two passwords stay valid after a rotation; the next ends the oldest', async () => {
  const caller = await api.createService()
  const first = await createAccount(caller, 'visitor')
  const { username } = first
  const rotate = async (options: object) => {
    const response = await caller.request(`/accounts/${username}/rotate`, { method: 'POST', ...options })
    assert.equal(response.status, 200, response.text)
    assert.equal(response.json.data.apiKey, toApiKey(username, response.json.data.password))
    assert.equal(response.json.data.passwords, 2)
    return response.json.data
  }
  const second = await rotate({})
  for (const { password } of [first, second]) await waitForStatus(caller, { username, password }, 200)
  const third = await rotate({ headers: { 'content-type': 'application/json' }, body: '{}' })
  await waitForStatus(caller, first, 401)
  for (const { password } of [second, third]) await waitForStatus(caller, { username, password }, 200)
  const responses = await Promise.all(Array.from({ length: 10 }, () => rotate({})))
  assert.equal((await caller.get(`/accounts/${username}`)).json.data.passwords, 2)
  await waitForStatus(caller, third, 401)
  const statuses = await Promise.all(
    responses.map(({ password }) => getStatusWithPassword(api, caller, { username, password })),
  )
  assert.equal(statuses.filter(status => status === 200).length, 2)
})

test('revoking one service keeps the others; revoking the last ends all passwords', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  const colleague = await createAccount(caller, 'maintainer')
  const path = `/accounts/${colleague.username}`
  await addAccount(api.db, api.keys, colleague.username, other.service, 'visitor')
  await waitForStatus(other, colleague, 200)
  const revoked = await post(caller, `${path}/revoke`, {})
  assert.deepEqual([revoked.status, revoked.json], [200, { data: { username: colleague.username } }])
  await waitForStatus(caller, colleague, 403)
  assert.equal(await getStatusWithPassword(api, other, colleague), 200)
  for (const again of [await caller.get(path), await post(caller, `${path}/revoke`, {})])
    assertProblem(again, 'not_found', api.baseUrl)
  assert.equal((await other.request(`${path}/revoke`, { method: 'POST' })).status, 200)
  await waitForStatus(other, colleague, 401)
  const recreated = await createAccount(caller, 'visitor', colleague.username)
  await waitForStatus(caller, colleague, 401)
  await waitForStatus(caller, recreated, 200)
})

test('an account is deleted if its last two services revoke it concurrently', async () => {
  const shops = [await api.createService(), await api.createService()] as const
  for (let round = 0; round < 10; round++) {
    const { username } = await createAccount(shops[0], 'visitor')
    await addAccount(api.db, api.keys, username, shops[1].service, 'visitor')
    const responses = await Promise.all(shops.map(caller => post(caller, `/accounts/${username}/revoke`, {})))
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200],
    )
    await createAccount(shops[0], 'visitor', username)
  }
})

test('a taken username is rejected with the same message, even concurrently', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  const [own, foreign] = [await createAccount(caller, 'visitor'), await createAccount(other, 'visitor')]
  const rejected = await post(caller, '/accounts', { username: foreign.username, role: 'admin' })
  assertRejected(api, rejected, 'username_taken', '/username')
  assert.deepEqual(
    withoutRequestData(await post(caller, '/accounts', { username: own.username, role: 'admin' })),
    withoutRequestData(rejected),
  )
  assert.ok(!rejected.text.includes(other.service.name))
  assert.ok(!(await listUsernames(caller)).includes(foreign.username))
  const username = newUsername()
  const responses = await Promise.all(
    [caller, other, caller, other].map(admin => post(admin, '/accounts', { username, role: 'visitor' })),
  )
  assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 409, 409, 409])
})

test('an invalid username, role or body is rejected by name', async () => {
  const caller = await api.createService()
  const postAccount = (body: unknown) => post(caller, '/accounts', body)
  for (const username of ['', 'a:b', ':', 'tab\there', '..', ' ', 'x'.repeat(101), '\u202eabc'])
    assertRejected(api, await postAccount({ username, role: 'visitor' }), 'invalid_field', '/username')
  for (const username of ['x'.repeat(100), '😀1', '3'])
    assert.equal((await postAccount({ username: `${username}`, role: 'visitor' })).status, 201, username)
  assertRejected(api, await postAccount({ username: newUsername(), role: 'owner' }), 'invalid_field', '/role')
  assertRejected(api, await postAccount({}), 'invalid_body', '/username', '/role')
  assertRejected(
    api,
    await postAccount({ username: 1, role: null, password: 'mine' }),
    'invalid_body',
    ...['/username', '/role', '/password'],
  )
  const path = `/accounts/${caller.username}`
  assertRejected(api, await put(caller, path, { role: 'admin', username: 'other' }), 'invalid_body', '/username')
  assertRejected(api, await post(caller, `${path}/rotate`, { all: true }), 'invalid_body', '/all')
  assertProblem(await post(caller, `${path}/rotate`, 'null'), 'invalid_body', api.baseUrl)
  assertProblem(
    await post(caller, `${path}/revoke`, '<a/>', { 'content-type': 'text/xml' }),
    'unsupported_media_type',
    api.baseUrl,
  )
  assertProblem(await caller.get('/accounts?role=admin'), 'invalid_parameter', api.baseUrl)
})

test('only an admin can list and change accounts', async () => {
  const adminCaller = await api.createService()
  const path = `/accounts/${adminCaller.username}`
  for (const role of ['visitor', 'maintainer'] as const) {
    const caller = await api.createAccount(role, adminCaller.service)
    for (const response of [
      await caller.get('/accounts'),
      await caller.get(path),
      await post(caller, '/accounts', { username: newUsername(), role: 'visitor' }),
      await put(caller, `/accounts/${caller.username}`, { role: 'admin' }),
      await post(caller, `/accounts/${caller.username}/rotate`, {}),
      await post(caller, `${path}/revoke`, {}),
    ])
      assertProblem(response, 'insufficient_role', api.baseUrl)
  }
})
