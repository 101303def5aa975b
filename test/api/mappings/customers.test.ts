import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertRejected, updateCustomer } from '../../support/customer-bodies.ts'
import { createUnmappedShop } from '../../support/mapping-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'
import { put } from '../../support/write.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.stop())

const path = '/mappings/customers/65432'
const mapCustomer = (caller: Caller, change: object, headers = {}) => put(caller, path, change, headers)
const [admin, legacy] = ['gid://shop/Customer/6477890125896', '6477890125896']

test('a mapped customer is shown with its identifiers unless they are omitted', async () => {
  const caller = await createUnmappedShop(api)
  const { asOf } = (await caller.get('/customers/search?limit=1')).json.meta
  const first = await mapCustomer(caller, { ecommerceAdminId: admin })
  assert.equal(first.status, 200, first.text)
  const { json, headers } = await mapCustomer(caller, { ecommerceLegacyId: legacy })
  const mapped = { customerId: '65432', email: 'john@example.com', ecommerceAdminId: admin, ecommerceLegacyId: legacy }
  assert.deepEqual(json.data, mapped)
  const response = await caller.get(path)
  assert.deepEqual([response.json, response.headers.etag], [json, headers.etag])
  for (const record of [
    (await caller.get('/customers/65432')).json.data,
    (await caller.get(`/customers/search?updated_after=${asOf}`)).json.data[0],
    (await caller.get('/customers?email=john@example.com')).json.data[0],
  ])
    assert.deepEqual([record.ecommerceAdminId, record.ecommerceLegacyId], [admin, legacy])
  const polled = (await caller.get(`/customers?updated_after=${asOf}`)).json.data
  assert.deepEqual(
    polled.map((change: object) => [
      'id' in change && change.id,
      'ecommerceAdminId' in change,
      'ecommerceLegacyId' in change,
    ]),
    [['65432', false, false]],
  )
})

test("a customer mapping and the customer's identifiers are the same data", async () => {
  const caller = await createUnmappedShop(api)
  const maintainer = await api.createAccount('maintainer', caller.service)
  await updateCustomer(maintainer, '65432', { ecommerceAdminId: admin, ecommerceLegacyId: legacy, title: 'Mr' })
  const { data } = (await caller.get(path)).json
  assert.deepEqual([data.ecommerceAdminId, data.ecommerceLegacyId], [admin, legacy])
  await mapCustomer(caller, { ecommerceAdminId: null, ecommerceLegacyId: '' })
  const customer = (await caller.get('/customers/65432')).json.data
  assert.deepEqual([customer.ecommerceAdminId, customer.ecommerceLegacyId, customer.title], [null, null, 'Mr'])
})

test('concurrent changes of a customer and its mapping are all stored', async () => {
  const caller = await createUnmappedShop(api)
  for (let round = 0; round < 10; round++) {
    await Promise.all([
      mapCustomer(caller, { ecommerceAdminId: `admin ${round}` }),
      updateCustomer(caller, '65432', { surname: `Smith ${'x'.repeat(round)}` }),
      mapCustomer(caller, { ecommerceLegacyId: `legacy ${round}` }),
    ])
    const { data } = (await caller.get('/customers/65432')).json
    assert.deepEqual(
      [data.ecommerceAdminId, data.surname, data.ecommerceLegacyId],
      [`admin ${round}`, `Smith ${'x'.repeat(round)}`, `legacy ${round}`],
    )
  }
})

test('an invalid identifier, stale version, unknown customer or low role is rejected', async () => {
  const caller = await createUnmappedShop(api)
  const maintainer = await api.createAccount('maintainer', caller.service)
  assertProblem(await mapCustomer(maintainer, { ecommerceAdminId: admin }), 'insufficient_role', api.baseUrl)
  assertRejected(api, await mapCustomer(caller, { email: 'a@example.com' }), 'invalid_body', '/email')
  assertRejected(api, await mapCustomer(caller, { ecommerceAdminId: 1 }), 'invalid_body', '/ecommerceAdminId')
  assertRejected(
    api,
    await mapCustomer(caller, { ecommerceLegacyId: 'x'.repeat(251) }),
    'invalid_field',
    '/ecommerceLegacyId',
  )
  const { etag } = (await caller.get(path)).headers
  await mapCustomer(caller, { ecommerceAdminId: admin })
  assertProblem(
    await mapCustomer(caller, { ecommerceAdminId: null }, { 'if-match': etag }),
    'precondition_failed',
    api.baseUrl,
  )
  for (const id of ['0', 'x'.repeat(251), '..%2F65432'])
    assertProblem(await put(caller, `/mappings/customers/${id}`, { ecommerceAdminId: admin }), 'not_found', api.baseUrl)
})
