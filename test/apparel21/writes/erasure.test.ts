import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eraseRemainingData } from '../../../src/store/privacy/erase-batch.ts'
import { buildCustomer, createCustomer } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, put, remove } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { buildOrder } = await createOrderFixture(shop)

test('a person of the back office cannot be erased, as capabilities explain', async () => {
  const admin = await api.createAccount('admin')
  const { id } = await createCustomer(api)
  const response = await remove(admin, `/customers/${id}`)
  assertProblem(response, 'capability_unavailable', api.baseUrl)
  assert.equal((await api.get(`/customers/${id}`)).status, 200)
  const { capabilities } = (await api.get('/capabilities')).json.data
  const lacking = capabilities.find(({ name }: { name: string }) => name === 'customerErasure')
  assert.deepEqual([lacking.available, lacking.reason], [false, response.json.detail])
})

test("an erased person's email can be taken upstream without naming the owner", async () => {
  const admin = await api.createAccount('admin')
  const { id, contact } = await createCustomer(api)
  await simulator.change({ kind: 'remove-person', id: Number(id) })
  assert.equal((await remove(admin, `/customers/${id}`)).status, 200)
  await simulator.change({ kind: 'restore-person', id: Number(id) })
  for (const more of [{ surname: 'Other' }, {}]) {
    const response = await post(api, '/customers', buildCustomer({ contact, ...more }))
    assertProblem(response, 'email_taken', api.baseUrl)
    assert.match(response.json.errors[0].detail, /^Another customer /)
  }
  assertProblem(await api.get(`/customers/${id}`), 'not_found', api.baseUrl)
})

test('a person erased upstream is erased here and does not return', async () => {
  const admin = await api.createAccount('admin')
  const { id } = await createCustomer(api)
  const placed = await post(api, '/orders', buildOrder({ customerId: id }))
  assert.equal(placed.status, 201, placed.text)
  await simulator.change({ kind: 'remove-person', id: Number(id) })
  const response = await remove(admin, `/customers/${id}`)
  assert.equal(response.status, 200, response.text)
  await eraseRemainingData(api.db, api.keys, api.service, id)
  const { customerId, billingAddress, total } = (await api.get(`/orders/${placed.json.data.id}`)).json.data
  assert.deepEqual([customerId, billingAddress.addressLine1, total], [null, null, placed.json.data.total])
  assertProblem(await admin.get(`/customers/${id}/export`), 'not_found', api.baseUrl)
  await simulator.change({ kind: 'restore-person', id: Number(id) })
  await shop.sync('customers')
  assertProblem(await api.get(`/customers/${id}`), 'not_found', api.baseUrl)
  assertProblem(await post(api, '/orders', buildOrder({ customerId: id })), 'invalid_field', api.baseUrl)
  assertProblem(await put(api, `/customers/${id}`, { title: 'Dr' }), 'not_found', api.baseUrl)
})
