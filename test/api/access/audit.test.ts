import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import type { Audit } from '../../../src/domain/audit.ts'
import { defaultSettings } from '../../../src/domain/tenancy/service-settings.ts'
import { createUnmappedShop } from '../../support/mapping-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'
import { issueVoucher, stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { post, put } from '../../support/write.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.stop())

let created = 0
const buildCustomer = () => ({ firstname: 'Ann', surname: 'Lee', contact: { email: `ann${++created}@example.com` } })
const listEntries = async (caller: Caller, query = ''): Promise<Audit[]> =>
  (await caller.get(`/audit${query}`)).json.data

test('each write adds one audit entry with account, record, fields and request', async () => {
  const caller = await api.createService({ timeZone: 'Australia/Melbourne' })
  const webshop = await api.createAccount('maintainer', caller.service)
  assert.deepEqual(await listEntries(caller), [])
  const { id } = (
    await post(
      webshop,
      '/customers',
      { ...buildCustomer(), address: { city: 'Melbourne' }, mobile: '0400 123 456', privacy: null },
      { 'x-request-id': 'making' },
    )
  ).json.data
  await put(webshop, `/customers/${id}`, { firstname: 'Bea', address: null }, { 'x-request-id': 'changing' })
  await put(
    caller,
    '/settings',
    { gateways: [], returnReasons: [{ code: 'A', name: 'Any' }] },
    { 'x-request-id': 'setting' },
  )
  const entries = await listEntries(caller)
  assert.deepEqual(
    entries.map(({ id: _, at: __, ...entry }) => entry),
    [
      {
        username: webshop.username,
        operation: 'POST /customers',
        subject: `/customers/${id}`,
        fields: ['firstname', 'surname', 'contact.email', 'address.city', 'mobile', 'privacy'],
        changes: null,
        requestId: 'making',
        agent: null,
        apiKey: null,
      },
      {
        username: webshop.username,
        operation: 'PUT /customers/:id',
        subject: `/customers/${id}`,
        fields: ['firstname', 'address'],
        changes: null,
        requestId: 'changing',
        agent: null,
        apiKey: null,
      },
      {
        username: caller.username,
        operation: 'PUT /settings',
        subject: '/settings',
        fields: ['gateways', 'returnReasons.code', 'returnReasons.name'],
        changes: [
          {
            field: 'returnReasons',
            before: JSON.stringify(defaultSettings.returnReasons),
            after: '[{"code":"A","name":"Any"}]',
          },
        ],
        requestId: 'setting',
        agent: null,
        apiKey: null,
      },
    ],
  )
  assert.equal(new Set(entries.map(entry => entry.id)).size, 3)
  assert.deepEqual(await listEntries(caller, `?record=/customers/${id}`), entries.slice(0, 2))
  const row = await api.db.row<{ now: string }>(
    sql`select to_char(now() at time zone 'Australia/Melbourne', 'YYYY-MM-DD HH24:MI') as now`,
  )
  assert.equal(entries[0]?.at.slice(0, 10), row?.now.slice(0, 10))
  assert.match(entries[0]?.at ?? '', /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
})

test('a rejected request adds no audit entry and a replay adds none', async () => {
  const caller = await api.createService()
  const visitor = await api.createAccount('visitor', caller.service)
  const key = { 'idempotency-key': 'once' }
  const body = buildCustomer()
  assert.equal((await post(caller, '/customers', body, key)).status, 201)
  assert.equal((await listEntries(caller)).length, 1)
  const again = await post(caller, '/customers', body, key)
  assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, 'true'])
  const rejections = [
    [post(caller, '/customers', { ...body, firstname: 'Bea' }, key), 422],
    [post(caller, '/customers', body), 409],
    [post(caller, '/customers', '{"bad'), 400],
    [post(caller, '/customers', { ...buildCustomer(), colour: 'red' }), 400],
    [post(caller, '/customers', { ...buildCustomer(), dateOfBirth: '2023-02-30' }), 422],
    [post(caller, '/customers', buildCustomer(), { 'content-type': 'text/xml' }), 415],
    [post(visitor, '/customers', buildCustomer()), 403],
    [put(caller, '/customers/none', { firstname: 'Bea' }), 404],
    [put(caller, '/settings', { currency: 'AUX' }), 422],
    [put(caller, '/settings', { currency: 'AUD' }, { 'if-match': '"stale"' }), 412],
  ] as const
  for (const [response, status] of rejections) assert.equal((await response).status, status)
  assert.equal((await listEntries(caller)).length, 1)
})

test('concurrent writes add one audit entry each', async () => {
  const caller = await api.createService()
  const responses = await Promise.all(Array.from({ length: 40 }, () => post(caller, '/customers', buildCustomer())))
  const subjects = responses.map(({ json }) => `/customers/${json.data.id}`)
  const entries = await listEntries(caller)
  assert.deepEqual(entries.map(entry => entry.subject).sort(), subjects.sort())
})

test('an audit entry has no personal value and no credential', async () => {
  const caller = await api.createService()
  const secrets = ['canaryname', 'canarymail@example.com', '+61 400 777 777', 'canarystreet']
  const [surname, email, mobile, addressLine1] = secrets
  await post(caller, '/customers', { firstname: 'Ann', surname, contact: { email }, mobile, address: { addressLine1 } })
  const { password, apiKey } = (await post(caller, '/accounts', { username: 'canary', role: 'visitor' })).json.data
  const { key } = (await post(caller, '/accounts/canary/keys', { name: 'shop' })).json.data
  secrets.push(password, apiKey, key)
  assert.ok(password && apiKey && key)
  const auditRows = await api.db.rows<{ text: string }>(sql`select a::text as text from audit a`)
  assert.ok(auditRows.length >= 2)
  for (const { text } of auditRows) for (const secret of secrets) assert.ok(!text.includes(secret), secret)
})

test('settings, roles and mappings are audited with old and new values', async () => {
  const caller = await createUnmappedShop(api, { currency: 'AUD' })
  const listChanges = async (record: string) =>
    (await listEntries(caller, `?record=${record}`)).map(({ changes }) => changes)
  await put(caller, '/settings', { retailerName: 'Luma', inventoryBuffer: 3, oversell: null })
  assert.deepEqual(await listChanges('/settings'), [
    [
      { field: 'retailerName', before: 'Tillbridge', after: 'Luma' },
      { field: 'inventoryBuffer', before: '0', after: '3' },
    ],
  ])
  const username = `team-${caller.service.name}`
  await post(caller, '/accounts', { username, role: 'visitor' })
  await put(caller, `/accounts/${username}`, { role: 'maintainer' })
  await post(caller, `/accounts/${username}/revoke`, {})
  const toRole = (from: string | null, to: string | null) => [{ field: 'role', before: from, after: to }]
  assert.deepEqual(await listChanges(`/accounts/${username}`), [
    toRole(null, 'visitor'),
    toRole('visitor', 'maintainer'),
    toRole('maintainer', null),
  ])
  await put(caller, '/mappings/skus/12001', { ecommerceSku: 'one' })
  const fix = await post(caller, '/mappings/fixes', { kind: 'skus', id: '12001', to: 'two' })
  await post(caller, `/mappings/fixes/${fix.json.data.id}/undo`, {})
  const toSku = (from: string | null, to: string | null) => [{ field: 'ecommerceSku', before: from, after: to }]
  assert.deepEqual(await listChanges('/mappings/skus/12001'), [
    toSku(null, 'one'),
    toSku('one', 'two'),
    toSku('two', 'one'),
  ])
  // Identifiers of customers are personal.
  await put(caller, '/mappings/customers/65432', { ecommerceLegacyId: '9001' })
  assert.deepEqual(await listChanges('/mappings/customers/65432'), [null])
})

test('entries of the administration and of data are listed apart', async () => {
  const caller = await api.createService(voucherSettings)
  await stockGiftCards(api, caller)
  const { id } = (await post(caller, '/customers', buildCustomer())).json.data
  await put(caller, '/settings', { retailerName: 'Luma' })
  const { number } = (await issueVoucher(caller)).json.data
  assert.equal((await post(caller, `/vouchers/${number}/suspend`, {})).status, 200)
  const listOperations = async (group: string) =>
    (await listEntries(caller, `?group=${group}`)).map(({ operation }) => operation)
  assert.deepEqual(await listOperations('data'), ['POST /customers', 'POST /vouchers'])
  assert.deepEqual(await listOperations('admin'), ['PUT /settings', 'POST /vouchers/:number/suspend'])
  assert.deepEqual(
    (await listEntries(caller, `?group=data&record=/customers/${id}&asc=false`)).map(({ operation }) => operation),
    ['POST /customers'],
  )
  assertProblem(await caller.get('/audit?group=other'), 'invalid_parameter', api.baseUrl)
})

test('an audit entry never contains a PIN, and a look-up adds none', async () => {
  const caller = await api.createService(voucherSettings)
  await stockGiftCards(api, caller)
  const issued = await issueVoucher(caller)
  assert.equal(issued.status, 201, issued.text)
  const { number, pin } = issued.json.data
  const { validationId } = (await post(caller, '/vouchers/validate', { number, pin, amount: '1.00' })).json.data
  assert.equal((await post(caller, '/vouchers/lookup', { number, pin })).status, 200)
  assert.equal((await put(caller, `/vouchers/${number}/lock`, { validationId })).status, 200)
  const entries = await listEntries(caller)
  assert.deepEqual(
    entries.map(({ operation, subject }) => [operation, subject]),
    [
      ['POST /vouchers', `/vouchers/${number}`],
      ['PUT /vouchers/:number/lock', `/vouchers/${number}`],
    ],
  )
  // Six digits can occur in an identifier or a time by chance.
  const text = JSON.stringify(entries.map(({ operation, fields, username }) => [operation, fields, username]))
  for (const secret of [pin, validationId, '150.00', 'ann.lee']) assert.ok(!text.includes(secret), secret)
})

test('an admin sees only the audit entries of their own service', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  await post(caller, '/customers', buildCustomer())
  const subject = `/customers/${(await post(other, '/customers', buildCustomer())).json.data.id}`
  assert.deepEqual(
    (await listEntries(other)).map(entry => entry.subject),
    [subject],
  )
  for (const role of ['visitor', 'maintainer'] as const)
    assertProblem(await (await api.createAccount(role)).get('/audit'), 'insufficient_role', api.baseUrl, '/audit')
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const response = await caller.request('/audit', { method })
    assertProblem(response, 'method_not_allowed', api.baseUrl, '/audit')
  }
})

test('the audit log is paginated by cursor and polled with asOf', async () => {
  const caller = await api.createService()
  for (let i = 0; i < 5; i++) await post(caller, '/customers', buildCustomer())
  const all = await listEntries(caller)
  assert.deepEqual(
    all.map(entry => entry.at),
    all.map(entry => entry.at).toSorted(),
    'oldest first',
  )
  const paginatedEntries: Audit[] = []
  let asOf = ''
  for (let query = '?limit=2'; query; ) {
    const { json } = await caller.get(`/audit${query}`)
    paginatedEntries.push(...json.data)
    asOf = json.meta.asOf
    query = json.meta.hasNextPage ? `?limit=2&after_cursor=${json.meta.endCursor}` : ''
  }
  assert.deepEqual(paginatedEntries, all)
  assert.deepEqual(await listEntries(caller, `?updated_after=${asOf}`), [])
  const subject = `/customers/${(await post(caller, '/customers', buildCustomer())).json.data.id}`
  const polled = await listEntries(caller, `?updated_after=${asOf}`)
  assert.deepEqual(
    polled.map(entry => entry.subject),
    [subject],
  )
  const { json } = await api.get(`/audit?after_cursor=${(await caller.get('/audit?limit=1')).json.meta.endCursor}`)
  assert.equal(json.code, 'invalid_cursor', 'a cursor of another service')
})

test('a write is rolled back if its audit entry cannot be stored', async () => {
  const caller = await api.createService()
  await api.db.run(sql`alter table audit add constraint full_up check (false) not valid`)
  try {
    const response = await post(caller, '/customers', { ...buildCustomer(), surname: 'Unkept' })
    assertProblem(response, 'internal_error', api.baseUrl, '/customers')
  } finally {
    await api.db.run(sql`alter table audit drop constraint full_up`)
  }
  assert.deepEqual((await caller.get('/customers/search')).json.data, [])
})

test('the audit log can be read newest first, page by page', async () => {
  const caller = await api.createService()
  const { id } = (await post(caller, '/customers', buildCustomer())).json.data
  for (const firstname of ['Bea', 'Cay']) await put(caller, `/customers/${id}`, { firstname })
  await put(caller, '/settings', { gateways: [] })
  const ids = (await listEntries(caller)).map(entry => entry.id)
  assert.equal(ids.length, 4)
  const paginatedIds: string[] = []
  for (let cursor = ''; ; ) {
    const { data, meta } = (await caller.get(`/audit?asc=false&limit=3${cursor}`)).json
    paginatedIds.push(...data.map((entry: Audit) => entry.id))
    if (!meta.hasNextPage) break
    cursor = `&after_cursor=${encodeURIComponent(meta.endCursor)}`
  }
  assert.deepEqual(paginatedIds, ids.toReversed())
  const recordEntries = await listEntries(caller, `?asc=false&record=/customers/${id}`)
  assert.deepEqual(
    recordEntries.map(entry => entry.id),
    ids.slice(0, 3).toReversed(),
  )
  assert.deepEqual(
    (await listEntries(caller, '?asc=true')).map(entry => entry.id),
    ids,
  )
})

test('the audit log can be filtered by account and by record', async () => {
  const caller = await api.createService()
  const other = await api.createAccount('admin', caller.service)
  const { id } = (await post(caller, '/customers', buildCustomer())).json.data
  await put(other, `/customers/${id}`, { firstname: 'Bea' })
  await put(other, '/settings', { gateways: [] })
  const listOperationsByAccount = async (query: string) =>
    (await listEntries(caller, query)).map(({ username, operation }) => `${username} ${operation}`)
  assert.deepEqual(await listOperationsByAccount(`?account=${other.username}`), [
    `${other.username} PUT /customers/:id`,
    `${other.username} PUT /settings`,
  ])
  assert.deepEqual(await listOperationsByAccount(`?account=${caller.username}&asc=false`), [
    `${caller.username} POST /customers`,
  ])
  assert.deepEqual(await listOperationsByAccount(`?account=${other.username}&record=/customers/${id}`), [
    `${other.username} PUT /customers/:id`,
  ])
  assert.deepEqual(await listOperationsByAccount('?account=nobody'), [])
})
