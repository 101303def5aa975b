import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import type { Audit } from '../../../src/domain/audit.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestService, type TestService } from '../../support/service.ts'
import { stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { post, put } from '../../support/write.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

let created = 0
const customer = () => ({ firstname: 'Ann', surname: 'Lee', contact: { email: `ann${++created}@example.com` } })
const lines = async (caller: Caller, query = ''): Promise<Audit[]> => (await caller.get(`/audit${query}`)).json.data

test('each write adds one audit entry with account, record, fields and request', async () => {
  const shop = await service.createService({ timeZone: 'Australia/Melbourne' })
  const webshop = await service.createAccount('maintainer', shop.service)
  assert.deepEqual(await lines(shop), [])
  const { id } = (
    await post(
      webshop,
      '/customers',
      { ...customer(), address: { city: 'Melbourne' }, mobile: '0400 123 456', privacy: null },
      { 'x-request-id': 'making' },
    )
  ).json.data
  await put(webshop, `/customers/${id}`, { firstname: 'Bea', address: null }, { 'x-request-id': 'changing' })
  await put(
    shop,
    '/settings',
    { gateways: [], returnReasons: [{ code: 'A', name: 'Any' }] },
    { 'x-request-id': 'setting' },
  )
  const written = await lines(shop)
  assert.deepEqual(
    written.map(({ id: _, at: __, ...line }) => line),
    [
      {
        username: webshop.username,
        operation: 'POST /customers',
        subject: `/customers/${id}`,
        fields: ['firstname', 'surname', 'contact.email', 'address.city', 'mobile', 'privacy'],
        requestId: 'making',
      },
      {
        username: webshop.username,
        operation: 'PUT /customers/:id',
        subject: `/customers/${id}`,
        fields: ['firstname', 'address'],
        requestId: 'changing',
      },
      {
        username: shop.username,
        operation: 'PUT /settings',
        subject: '/settings',
        fields: ['gateways', 'returnReasons.code', 'returnReasons.name'],
        requestId: 'setting',
      },
    ],
  )
  assert.equal(new Set(written.map(line => line.id)).size, 3)
  assert.deepEqual(await lines(shop, `?record=/customers/${id}`), written.slice(0, 2))
  const row = await service.db.row<{ now: string }>(
    sql`select to_char(now() at time zone 'Australia/Melbourne', 'YYYY-MM-DD HH24:MI') as now`,
  )
  assert.equal(written[0]?.at.slice(0, 10), row?.now.slice(0, 10))
  assert.match(written[0]?.at ?? '', /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
})

test('a rejected request adds no audit entry and a replay adds none', async () => {
  const shop = await service.createService()
  const visitor = await service.createAccount('visitor', shop.service)
  const key = { 'idempotency-key': 'once' }
  const body = customer()
  assert.equal((await post(shop, '/customers', body, key)).status, 201)
  assert.equal((await lines(shop)).length, 1)
  const again = await post(shop, '/customers', body, key)
  assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, 'true'])
  const refusals = [
    [post(shop, '/customers', { ...body, firstname: 'Bea' }, key), 422],
    [post(shop, '/customers', body), 409],
    [post(shop, '/customers', '{"bad'), 400],
    [post(shop, '/customers', { ...customer(), colour: 'red' }), 400],
    [post(shop, '/customers', { ...customer(), dateOfBirth: '2023-02-30' }), 422],
    [post(shop, '/customers', customer(), { 'content-type': 'text/xml' }), 415],
    [post(visitor, '/customers', customer()), 403],
    [put(shop, '/customers/none', { firstname: 'Bea' }), 404],
    [put(shop, '/settings', { currency: 'AUX' }), 422],
    [put(shop, '/settings', { currency: 'AUD' }, { 'if-match': '"stale"' }), 412],
  ] as const
  for (const [response, status] of refusals) assert.equal((await response).status, status)
  assert.equal((await lines(shop)).length, 1)
})

test('concurrent writes add one audit entry each', async () => {
  const shop = await service.createService()
  const responses = await Promise.all(Array.from({ length: 40 }, () => post(shop, '/customers', customer())))
  const subjects = responses.map(({ json }) => `/customers/${json.data.id}`)
  const written = await lines(shop)
  assert.deepEqual(written.map(line => line.subject).sort(), subjects.sort())
})

test('an audit entry names the changed fields, never their values', async () => {
  const shop = await service.createService()
  const secrets = ['canaryname', 'canarymail@example.com', '+61 400 777 777', 'canarystreet', 'canarygateway']
  const [surname, email, mobile, addressLine1, gateway] = secrets
  await post(shop, '/customers', { firstname: 'Ann', surname, contact: { email }, mobile, address: { addressLine1 } })
  await put(shop, '/settings', { gateways: [gateway] })
  const kept = await service.db.rows<{ text: string }>(sql`select a::text as text from audit a`)
  assert.ok(kept.length >= 2)
  for (const { text } of kept) for (const secret of secrets) assert.ok(!text.includes(secret), secret)
})

test('an audit entry never contains a PIN, and a look-up adds none', async () => {
  const shop = await service.createService(voucherSettings)
  await stockGiftCards(service, shop)
  const issued = await post(shop, '/vouchers', {
    amount: '150.00',
    gateway: 'visa',
    receiverName: 'Ann Lee',
    receiverEmail: 'ann.lee@example.com',
    senderName: 'John Smith',
    subject: 'A gift for you',
    billingAddress: { city: 'Melbourne' },
  })
  assert.equal(issued.status, 201, issued.text)
  const { number, pin } = issued.json.data
  const { validationId } = (await post(shop, '/vouchers/validate', { number, pin, amount: '1.00' })).json.data
  assert.equal((await post(shop, '/vouchers/lookup', { number, pin })).status, 200)
  assert.equal((await put(shop, `/vouchers/${number}/lock`, { validationId })).status, 200)
  const written = await lines(shop)
  assert.deepEqual(
    written.map(({ operation, subject }) => [operation, subject]),
    [
      ['POST /vouchers', `/vouchers/${number}`],
      ['PUT /vouchers/:number/lock', `/vouchers/${number}`],
    ],
  )
  // Six digits can occur in an identifier or a time by chance.
  const reported = JSON.stringify(written.map(({ operation, fields, username }) => [operation, fields, username]))
  for (const secret of [pin, validationId, '150.00', 'ann.lee']) assert.ok(!reported.includes(secret), secret)
})

test('an admin sees only the audit entries of their own service', async () => {
  const [shop, other] = [await service.createService(), await service.createService()]
  await post(shop, '/customers', customer())
  const subject = `/customers/${(await post(other, '/customers', customer())).json.data.id}`
  assert.deepEqual(
    (await lines(other)).map(line => line.subject),
    [subject],
  )
  for (const role of ['visitor', 'maintainer'] as const)
    assertProblem(
      await (await service.createAccount(role)).get('/audit'),
      'insufficient_role',
      service.baseUrl,
      '/audit',
    )
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const response = await shop.request('/audit', { method })
    assertProblem(response, 'method_not_allowed', service.baseUrl, '/audit')
  }
})

test('the audit log is paginated by cursor and polled with asOf', async () => {
  const shop = await service.createService()
  for (let i = 0; i < 5; i++) await post(shop, '/customers', customer())
  const all = await lines(shop)
  assert.deepEqual(
    all.map(line => line.at),
    all.map(line => line.at).toSorted(),
    'the oldest first',
  )
  const walked: Audit[] = []
  let asOf = ''
  for (let query = '?limit=2'; query; ) {
    const { json } = await shop.get(`/audit${query}`)
    walked.push(...json.data)
    asOf = json.meta.asOf
    query = json.meta.hasNextPage ? `?limit=2&after_cursor=${json.meta.endCursor}` : ''
  }
  assert.deepEqual(walked, all)
  assert.deepEqual(await lines(shop, `?updated_after=${asOf}`), [])
  const subject = `/customers/${(await post(shop, '/customers', customer())).json.data.id}`
  const polled = await lines(shop, `?updated_after=${asOf}`)
  assert.deepEqual(
    polled.map(line => line.subject),
    [subject],
  )
  const { json } = await service.get(`/audit?after_cursor=${(await shop.get('/audit?limit=1')).json.meta.endCursor}`)
  assert.equal(json.code, 'invalid_cursor', 'a cursor of another service')
})

test('a write is rolled back if its audit entry cannot be stored', async () => {
  const shop = await service.createService()
  await service.db.run(sql`alter table audit add constraint full_up check (false) not valid`)
  try {
    const response = await post(shop, '/customers', { ...customer(), surname: 'Unkept' })
    assertProblem(response, 'internal_error', service.baseUrl, '/customers')
  } finally {
    await service.db.run(sql`alter table audit drop constraint full_up`)
  }
  assert.deepEqual((await shop.get('/customers/search')).json.data, [])
})

test('the audit log can be read newest first, page by page', async () => {
  const shop = await service.createService()
  const { id } = (await post(shop, '/customers', customer())).json.data
  for (const firstname of ['Bea', 'Cay']) await put(shop, `/customers/${id}`, { firstname })
  await put(shop, '/settings', { gateways: [] })
  const oldest = (await lines(shop)).map(line => line.id)
  assert.equal(oldest.length, 4)
  const walked: string[] = []
  for (let cursor = ''; ; ) {
    const { data, meta } = (await shop.get(`/audit?asc=false&limit=3${cursor}`)).json
    walked.push(...data.map((line: Audit) => line.id))
    if (!meta.hasNextPage) break
    cursor = `&after_cursor=${encodeURIComponent(meta.endCursor)}`
  }
  assert.deepEqual(walked, oldest.toReversed())
  const about = await lines(shop, `?asc=false&record=/customers/${id}`)
  assert.deepEqual(
    about.map(line => line.id),
    oldest.slice(0, 3).toReversed(),
  )
  assert.deepEqual(
    (await lines(shop, '?asc=true')).map(line => line.id),
    oldest,
  )
})

test('the audit log can be filtered by account and by record', async () => {
  const shop = await service.createService()
  const other = await service.createAccount('admin', shop.service)
  const { id } = (await post(shop, '/customers', customer())).json.data
  await put(other, `/customers/${id}`, { firstname: 'Bea' })
  await put(other, '/settings', { gateways: [] })
  const by = async (query: string) =>
    (await lines(shop, query)).map(({ username, operation }) => `${username} ${operation}`)
  assert.deepEqual(await by(`?account=${other.username}`), [
    `${other.username} PUT /customers/:id`,
    `${other.username} PUT /settings`,
  ])
  assert.deepEqual(await by(`?account=${shop.username}&asc=false`), [`${shop.username} POST /customers`])
  assert.deepEqual(await by(`?account=${other.username}&record=/customers/${id}`), [
    `${other.username} PUT /customers/:id`,
  ])
  assert.deepEqual(await by('?account=nobody'), [])
})
