import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildCustomer, createCustomer } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, put, withKey } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from '../writes/orders.ts'

const shop = await startShopFixture()
const { api, simulator, sync } = shop
const { buildOrder } = await createOrderFixture(shop)

const queryRows = async (text: string, ...values: unknown[]) => (await api.db.pool.query(text, values)).rows
const findTombstone = async (id: string) =>
  (await queryRows("select changed_at::text as at from tombstone where kind = 'customer' and id = $1", id))[0]?.at
const remove = (id: string) => simulator.change({ kind: 'remove-person', id: Number(id) })
const restore = (id: string) => simulator.change({ kind: 'restore-person', id: Number(id) })
const loadNotes = async () => (await queryRows("select notes from sync_state where sync = 'customers'"))[0].notes
const countPersonReads = () => simulator.ledger.findCalls({ method: 'GET', path: '/Persons/*' }).length

/** Creates a customer with an order and removes the customer from the back office. */
async function createRemovedCustomer() {
  const maintainer = await api.createAccount('maintainer')
  const customer = await createCustomer(maintainer, buildCustomer({ ecommerceAdminId: 'gid://shop/Customer/1' }))
  const body = buildOrder({ customerId: customer.id })
  const placed = await post(api, '/orders', body)
  assert.equal(placed.status, 201, placed.text)
  await remove(customer.id)
  return { customer, body, order: placed.json.data }
}

async function assertRemoved(id: string, email: string) {
  for (const path of [`/customers/${id}`, `/customers/${id}/orders`, `/customers/${id}/transactions`])
    assertProblem(await api.get(path), 'not_found', api.baseUrl)
  assert.deepEqual((await api.get(`/customers?email=${email}`)).json.data, [])
  assert.match(await findTombstone(id), /^2\d{3}-/)
}

test('a customer missing from a full sync is removed, but orders stay', async () => {
  const { customer, order: placed, body } = await createRemovedCustomer()
  await sync('customers')
  await assertRemoved(customer.id, customer.contact.email)
  assert.deepEqual((await api.get(`/orders/${placed.id}`)).json.data, placed)
  assertProblem(await post(api, '/orders', body, withKey()), 'invalid_field', api.baseUrl)
  assert.equal((await queryRows('select 1 from sync_refresh where id = $1', customer.id)).length, 0)
  const newCustomer = await createCustomer(api, buildCustomer({ contact: customer.contact }))
  assert.notEqual(newCustomer.id, customer.id)
})

test('a returning customer is later than the tombstone and keeps local fields', async () => {
  const { customer, order: placed } = await createRemovedCustomer()
  await sync('customers')
  const removed = await findTombstone(customer.id)
  await restore(customer.id)
  await sync('customers')
  const { updateTimeStamp: _, ...before } = customer
  const { updateTimeStamp: __, ...after } = (await api.get(`/customers/${customer.id}`)).json.data
  assert.deepEqual(after, before)
  const [{ later }] = await queryRows(
    'select changed_at > $2 as later from customer where id = $1',
    customer.id,
    removed,
  )
  assert.equal(later, true)
  const customers = (await api.get(`/customers/search?updated_after=${encodeURIComponent(toTimestamp(removed))}`)).json
    .data
  assert.ok(customers.some(({ id }: { id: string }) => id === customer.id))
  assert.deepEqual((await api.get(`/customers/${customer.id}/orders`)).json.data, [placed])
})

const toTimestamp = (text: string) => `${text.slice(0, 19).replace(' ', 'T')}Z`

test('a customer found missing by a read or write is removed immediately', async () => {
  const changed = await createRemovedCustomer()
  assertProblem(await put(api, `/customers/${changed.customer.id}`, { title: 'Dr' }), 'not_found', api.baseUrl)
  await assertRemoved(changed.customer.id, changed.customer.contact.email)

  const buyer = await createRemovedCustomer()
  assertProblem(await post(api, '/orders', buyer.body, withKey()), 'invalid_field', api.baseUrl)
  await assertRemoved(buyer.customer.id, buyer.customer.contact.email)

  const owner = await createRemovedCustomer()
  const newCustomer = await createCustomer(api, buildCustomer({ contact: owner.customer.contact }))
  assert.notEqual(newCustomer.id, owner.customer.id)
  assert.match(await findTombstone(owner.customer.id), /^2/)
})

test('a customer returning through a write keeps local fields', async () => {
  for (const writeAgain of [
    (id: string) => put(api, `/customers/${id}`, { title: 'Dr' }),
    (customerId: string) => post(api, '/orders', buildOrder({ customerId }), withKey()),
  ]) {
    const { customer } = await createRemovedCustomer()
    const { id, ecommerceAdminId } = customer
    assertProblem(await put(api, `/customers/${id}`, { title: 'Ms' }), 'not_found', api.baseUrl)
    await restore(id)
    const response = await writeAgain(id)
    assert.ok(response.status < 300, response.text)
    assert.equal((await api.get(`/customers/${id}`)).json.data.ecommerceAdminId, ecommerceAdminId)
  }
})

test('a customer missing from the list but found individually stays', async () => {
  const { id } = await createCustomer(api)
  const changeDuring = (path: string, kind: string) =>
    simulator.faults.add({ kind: 'concurrent-change', method: 'GET', path, times: 1, change: { kind, id: Number(id) } })
  simulator.ledger.clear()
  changeDuring('/Persons', 'remove-person')
  changeDuring(`/Persons/${id}`, 'restore-person')
  await sync('customers')
  assert.equal(simulator.ledger.findCalls({ method: 'GET', path: `/Persons/${id}` }).length, 1)
  assert.equal((await api.get(`/customers/${id}`)).status, 200)
  assert.equal(await findTombstone(id), undefined)
})

test('a full sync with less than half of the customers removes none', async () => {
  const { persons, formerPersons } = simulator.state
  const majority = [...persons.keys()].slice(0, Math.ceil(persons.size * 0.6))
  for (const id of majority) await remove(String(id))
  simulator.ledger.clear()
  await sync('customers')
  assert.equal((await api.get(`/customers/${majority[0]}`)).status, 200)
  assert.match(JSON.stringify(await loadNotes()), /missing from the customer list, .* more than half of it/)
  assert.equal(countPersonReads(), 0)
  for (const id of formerPersons.keys()) if (majority.includes(id)) await restore(String(id))
})

test('an interrupted full sync removes no customer', async () => {
  const { customer } = await createRemovedCustomer()
  simulator.faults.add({ kind: 'status', status: 500, method: 'GET', path: '/Persons', times: 10 })
  await assert.rejects(sync('customers'))
  assert.equal((await api.get(`/customers/${customer.id}`)).status, 200)
  simulator.faults.clear()
  await sync('customers')
  await assertRemoved(customer.id, customer.contact.email)
})
