import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { buildCustomer, countCustomersByEmail, postCustomer } from '../../support/customer-bodies.ts'
import { buildOrder, createReturn, fillShop, placeOrder } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestService } from '../../support/service.ts'
import { assertReplay, post, put, withKey } from '../../support/write.ts'

const service = await startTestService({ settings: { writesPerMinute: 'off' } })
after(() => service.stop())

test('a replay contains everything of the first response', async () => {
  const body = buildCustomer()
  const first = await postCustomer(service, body, 'first')
  assert.equal(first.status, 201)
  assert.equal(first.headers['idempotent-replayed'], undefined)
  assert.match(String(first.headers.location), /^\/customers\/./)
  assert.ok(first.headers.etag)
  for (let i = 0; i < 3; i++) assertReplay(await postCustomer(service, body, 'first'), first)
  assert.equal(await countCustomersByEmail(service, body.contact.email), 1)
  await put(service, String(first.headers.location), { firstname: 'Bea' })
  assertReplay(await postCustomer(service, body, 'first'), first)
})

test('a replay contains the warnings of the first response', async () => {
  const body = { ...buildCustomer(), emailSubscription: true }
  const first = await postCustomer(service, body, 'warned')
  assert.equal(first.json.meta.warnings.length > 0, true)
  assertReplay(await postCustomer(service, body, 'warned'), first)
})

test('a key must have 1 to 255 printable ASCII characters', async () => {
  for (const key of ['k', '"k2"', 'x'.repeat(255), `"${'y'.repeat(255)}"`, 'a b', '"a, b; c=\'d\'"', '~!@#$%^&*()\\'])
    assert.equal((await postCustomer(service, buildCustomer(), key)).status, 201, key)
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
    assertProblem(
      await postCustomer(service, buildCustomer(), key),
      'idempotency_key_invalid',
      service.baseUrl,
      '/customers',
    )
})

test('a quoted key equals the bare key', async () => {
  const body = buildCustomer()
  const first = await postCustomer(service, body, 'quoted or bare')
  assertReplay(await postCustomer(service, body, '"quoted or bare"'), first)
})

test('two keys in one request are rejected', async () => {
  const response = await service.request('/customers', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': ['"one"', '"two"'] },
    body: JSON.stringify(buildCustomer()),
  })
  assertProblem(response, 'duplicate_header', service.baseUrl, '/customers')
})

test('equal JSON in any order and spacing is the same request', async () => {
  const { firstname, surname, contact } = buildCustomer()
  const first = await postCustomer(
    service,
    { firstname, surname, contact, address: { city: 'B\u00fcrglen', state: null } },
    'same',
  )
  assert.equal(first.status, 201)
  const spelled = `\ufeff{ "address" : {"state":null,\n"city":"B\\u00fcrglen"},"contact":{"email":"${contact.email}"},
    "\\u0073urname":"${surname}", "firstname":"${firstname}"}`
  assertReplay(await postCustomer(service, spelled, 'same'), first)
})

test('a key used for a different request is rejected without effect', async () => {
  const body = buildCustomer()
  const first = await postCustomer(service, body, 'mine')
  const others = [
    { ...body, firstname: 'Bea' },
    { ...body, title: null },
    { ...body, contact: { email: body.contact.email.toUpperCase() } },
    { ...body, contact: { email: 'another@example.com' } },
  ]
  for (const another of others)
    assertProblem(await postCustomer(service, another, 'mine'), 'idempotency_key_reused', service.baseUrl, '/customers')
  assert.equal(await countCustomersByEmail(service, 'another@example.com'), 0)
  assertReplay(await postCustomer(service, body, 'mine'), first)
})

test("the same key for another order's path is rejected", async () => {
  const shop = await service.createService({ currency: 'AUD' })
  await fillShop(service.db, shop.service)
  const [one, two] = [
    await placeOrder(shop, [{ sku: 'TEE', quantity: 2 }]),
    await placeOrder(shop, [{ sku: 'TEE', quantity: 2 }]),
  ]
  const returning = (id: string) => createReturn(shop, id, { TEE: 1 }, {}, withKey('returned'))
  const first = await returning(one.id)
  assert.equal(first.status, 201)
  const path = `/orders/${two.id}/returns`
  assertProblem(await returning(two.id), 'idempotency_key_reused', service.baseUrl, path)
  assertReplay(await returning(one.id), first)
  assert.deepEqual((await shop.get(path)).json.data, [])
})

test('an escaped identifier is the same request, an order number is not', async () => {
  const shop = await service.createService({ currency: 'AUD' })
  await fillShop(service.db, shop.service)
  const { id, orderNumber } = await placeOrder(shop, [{ sku: 'TEE', quantity: 2 }])
  const returning = (name: string) => createReturn(shop, name, { TEE: 1 }, {}, withKey('escaped'))
  const first = await returning(id)
  assert.equal(first.status, 201)
  assertReplay(await returning(id.replaceAll('-', '%2D')), first)
  assertReplay(await returning(id.replaceAll('-', '%2d')), first)
  assertProblem(
    await returning(orderNumber),
    'idempotency_key_reused',
    service.baseUrl,
    `/orders/${orderNumber}/returns`,
  )
})

test('the same key in another operation is another write', async () => {
  const shop = await service.createService({ currency: 'AUD' })
  await fillShop(service.db, shop.service)
  const responses = [
    await postCustomer(shop, buildCustomer(), 'everywhere'),
    await post(shop, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }]), withKey('everywhere')),
    await post(shop, '/vouchers/lookup', { number: '1', pin: '000000' }, withKey('everywhere')),
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
  const shop = await service.createService()
  const body = buildCustomer()
  const [mine, theirs] = [await postCustomer(service, body, 'shared'), await postCustomer(shop, body, 'shared')]
  assert.deepEqual([mine.status, theirs.status], [201, 201])
  assert.equal(theirs.headers['idempotent-replayed'], undefined)
  assert.notEqual(mine.json.data.id, theirs.json.data.id)
  assertReplay(await postCustomer(shop, body, 'shared'), theirs)
})

test('a key belongs to the service, not to the account', async () => {
  const colleague = await service.createAccount('maintainer')
  const body = buildCustomer()
  const first = await postCustomer(service, body, 'colleagues')
  assertReplay(await postCustomer(colleague, body, 'colleagues'), first)
})

test('a client without write permission gets no replay', async () => {
  const visitor = await service.createAccount('visitor')
  const body = buildCustomer()
  await postCustomer(service, body, 'visited')
  assertProblem(await postCustomer(visitor, body, 'visited'), 'insufficient_role', service.baseUrl, '/customers')
})

test('a rejected request leaves its key unused', async () => {
  const accepted = buildCustomer()
  await postCustomer(service, accepted)
  const right = buildCustomer()
  const refusals = [
    ['{"bad', 400],
    [{ ...right, colour: 'red' }, 400],
    [{ ...right, dateOfBirth: '2023-02-30' }, 422],
    [{ ...right, dateOfBirth: '1850-01-01' }, 422],
    [{ ...right, contact: accepted.contact }, 409],
  ] as const
  for (const [body, status] of refusals) assert.equal((await postCustomer(service, body, 'patient')).status, status)
  const first = await postCustomer(service, right, 'patient')
  assert.deepEqual([first.status, first.headers['idempotent-replayed']], [201, undefined])
  assertReplay(await postCustomer(service, right, 'patient'), first)
})

test('a service can require a key for every supported write', async () => {
  const strict = await service.createService({ requireIdempotencyKey: true })
  const response = await post(strict, '/customers', buildCustomer())
  assertProblem(response, 'idempotency_key_invalid', service.baseUrl, '/customers')
  const { status, json } = await postCustomer(strict, buildCustomer())
  assert.equal(status, 201)
  assert.equal((await put(strict, `/customers/${json.data.id}`, { firstname: 'Bea' })).status, 200, 'takes none')
})

test('each request without a key is a separate write', async () => {
  const body = buildCustomer()
  assert.equal((await post(service, '/customers', body)).status, 201)
  assertProblem(await post(service, '/customers', body), 'email_taken', service.baseUrl, '/customers')
})
