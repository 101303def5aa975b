import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { buildCustomer, countCustomersByEmail, postCustomer } from '../../support/customer-bodies.ts'
import { buildOrder, createReturn, fillShop, placeOrder } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'
import { assertReplay, post, put, withKey } from '../../support/write.ts'

const api = await startTestApi({ settings: { writesPerMinute: 'off' } })
after(() => api.stop())

test('a replay contains everything of the first response', async () => {
  const body = buildCustomer()
  const first = await postCustomer(api, body, 'first')
  assert.equal(first.status, 201)
  assert.equal(first.headers['idempotent-replayed'], undefined)
  assert.match(String(first.headers.location), /^\/customers\/./)
  assert.ok(first.headers.etag)
  for (let i = 0; i < 3; i++) assertReplay(await postCustomer(api, body, 'first'), first)
  assert.equal(await countCustomersByEmail(api, body.contact.email), 1)
  await put(api, String(first.headers.location), { firstname: 'Bea' })
  assertReplay(await postCustomer(api, body, 'first'), first)
})

test('a replay contains the warnings of the first response', async () => {
  const body = { ...buildCustomer(), emailSubscription: true }
  const first = await postCustomer(api, body, 'warned')
  assert.equal(first.json.meta.warnings.length > 0, true)
  assertReplay(await postCustomer(api, body, 'warned'), first)
})

test('a key must have 1 to 255 printable ASCII characters', async () => {
  for (const key of ['k', '"k2"', 'x'.repeat(255), `"${'y'.repeat(255)}"`, 'a b', '"a, b; c=\'d\'"', '~!@#$%^&*()\\'])
    assert.equal((await postCustomer(api, buildCustomer(), key)).status, 201, key)
  for (const key of [
    '',
    '""',
    'x'.repeat(256),
    `"${'y'.repeat(256)}"`,
    '"open',
    'clo"sed',
    '"a"b"',
    'schl\u00fcssel',
    'a\tb',
  ])
    assertProblem(await postCustomer(api, buildCustomer(), key), 'idempotency_key_invalid', api.baseUrl, '/customers')
})

test('a quoted key equals the bare key', async () => {
  const body = buildCustomer()
  const first = await postCustomer(api, body, 'quoted or bare')
  assertReplay(await postCustomer(api, body, '"quoted or bare"'), first)
})

test('two keys in one request are rejected', async () => {
  const response = await api.request('/customers', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': ['"one"', '"two"'] },
    body: JSON.stringify(buildCustomer()),
  })
  assertProblem(response, 'duplicate_header', api.baseUrl, '/customers')
})

test('equal JSON in any order and spacing is the same request', async () => {
  const { firstname, surname, contact } = buildCustomer()
  const first = await postCustomer(
    api,
    { firstname, surname, contact, address: { city: 'B\u00fcrglen', state: null } },
    'same',
  )
  assert.equal(first.status, 201)
  const respelledBody = `\ufeff{ "address" : {"state":null,\n"city":"B\\u00fcrglen"},"contact":{"email":"${contact.email}"},
    "\\u0073urname":"${surname}", "firstname":"${firstname}"}`
  assertReplay(await postCustomer(api, respelledBody, 'same'), first)
})

test('a key used for a different request is rejected without effect', async () => {
  const body = buildCustomer()
  const first = await postCustomer(api, body, 'mine')
  const otherRequests = [
    { ...body, firstname: 'Bea' },
    { ...body, title: null },
    { ...body, contact: { email: body.contact.email.toUpperCase() } },
    { ...body, contact: { email: 'another@example.com' } },
  ]
  for (const another of otherRequests)
    assertProblem(await postCustomer(api, another, 'mine'), 'idempotency_key_reused', api.baseUrl, '/customers')
  assert.equal(await countCustomersByEmail(api, 'another@example.com'), 0)
  assertReplay(await postCustomer(api, body, 'mine'), first)
})

test("the same key for another order's path is rejected", async () => {
  const caller = await api.createService({ currency: 'AUD' })
  await fillShop(api.db, caller.service)
  const [original, second] = [
    await placeOrder(caller, [{ sku: 'TEE', quantity: 2 }]),
    await placeOrder(caller, [{ sku: 'TEE', quantity: 2 }]),
  ]
  const returnTee = (id: string) => createReturn(caller, id, { TEE: 1 }, {}, withKey('returned'))
  const first = await returnTee(original.id)
  assert.equal(first.status, 201)
  const path = `/orders/${second.id}/returns`
  assertProblem(await returnTee(second.id), 'idempotency_key_reused', api.baseUrl, path)
  assertReplay(await returnTee(original.id), first)
  assert.deepEqual((await caller.get(path)).json.data, [])
})

test('an escaped identifier is the same request, an order number is not', async () => {
  const caller = await api.createService({ currency: 'AUD' })
  await fillShop(api.db, caller.service)
  const { id, orderNumber } = await placeOrder(caller, [{ sku: 'TEE', quantity: 2 }])
  const returnTee = (name: string) => createReturn(caller, name, { TEE: 1 }, {}, withKey('escaped'))
  const first = await returnTee(id)
  assert.equal(first.status, 201)
  assertReplay(await returnTee(id.replaceAll('-', '%2D')), first)
  assertReplay(await returnTee(id.replaceAll('-', '%2d')), first)
  assertProblem(await returnTee(orderNumber), 'idempotency_key_reused', api.baseUrl, `/orders/${orderNumber}/returns`)
})

test('the same key in another operation is another write', async () => {
  const caller = await api.createService({ currency: 'AUD' })
  await fillShop(api.db, caller.service)
  const responses = [
    await postCustomer(caller, buildCustomer(), 'everywhere'),
    await post(caller, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }]), withKey('everywhere')),
    await post(caller, '/vouchers/lookup', { number: '1', pin: '000000' }, withKey('everywhere')),
  ]
  assert.deepEqual(
    responses.map(({ status, headers }) => [status, headers['idempotent-replayed']]),
    [
      [201, undefined],
      [201, undefined],
      [403, undefined],
    ],
  )
})

test('the same key in another service is another write', async () => {
  const caller = await api.createService()
  const body = buildCustomer()
  const [own, foreign] = [await postCustomer(api, body, 'shared'), await postCustomer(caller, body, 'shared')]
  assert.deepEqual([own.status, foreign.status], [201, 201])
  assert.equal(foreign.headers['idempotent-replayed'], undefined)
  assert.notEqual(own.json.data.id, foreign.json.data.id)
  assertReplay(await postCustomer(caller, body, 'shared'), foreign)
})

test('a key belongs to the service, not to the account', async () => {
  const colleague = await api.createAccount('maintainer')
  const body = buildCustomer()
  const first = await postCustomer(api, body, 'colleagues')
  assertReplay(await postCustomer(colleague, body, 'colleagues'), first)
})

test('a client without write permission gets no replay', async () => {
  const visitor = await api.createAccount('visitor')
  const body = buildCustomer()
  await postCustomer(api, body, 'visited')
  assertProblem(await postCustomer(visitor, body, 'visited'), 'insufficient_role', api.baseUrl, '/customers')
})

test('a rejected request leaves its key unused', async () => {
  const accepted = buildCustomer()
  await postCustomer(api, accepted)
  const validBody = buildCustomer()
  const rejections = [
    ['{"bad', 400],
    [{ ...validBody, colour: 'red' }, 400],
    [{ ...validBody, dateOfBirth: '2023-02-30' }, 422],
    [{ ...validBody, dateOfBirth: '1850-01-01' }, 422],
    [{ ...validBody, contact: accepted.contact }, 409],
  ] as const
  for (const [body, status] of rejections) assert.equal((await postCustomer(api, body, 'patient')).status, status)
  const first = await postCustomer(api, validBody, 'patient')
  assert.deepEqual([first.status, first.headers['idempotent-replayed']], [201, undefined])
  assertReplay(await postCustomer(api, validBody, 'patient'), first)
})

test('a service can require a key for every supported write', async () => {
  const strict = await api.createService({ requireIdempotencyKey: true })
  const response = await post(strict, '/customers', buildCustomer())
  assertProblem(response, 'idempotency_key_invalid', api.baseUrl, '/customers')
  const { status, json } = await postCustomer(strict, buildCustomer())
  assert.equal(status, 201)
  assert.equal(
    (await put(strict, `/customers/${json.data.id}`, { firstname: 'Bea' })).status,
    200,
    'a customer change needs no key',
  )
})

test('each request without a key is a separate write', async () => {
  const body = buildCustomer()
  assert.equal((await post(api, '/customers', body)).status, 201)
  assertProblem(await post(api, '/customers', body), 'email_taken', api.baseUrl, '/customers')
})
