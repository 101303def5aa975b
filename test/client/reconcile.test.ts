import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutcomeUnknownError } from '../../client/src/index.ts'
import { startShopFixture } from '../apparel21/shop.ts'
import { createPersonFixture } from '../apparel21/writes/persons.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createClient } from './shop.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { countCreated } = createPersonFixture(shop)
const client = createClient(api)
const loseResponse = () => simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons', times: 1 })

test('a repeat creates an unconfirmed back office customer once', async () => {
  const before = countCreated()
  loseResponse()
  const customer = await client.customers.create(buildCustomer())
  assert.equal(countCreated(), before + 1)
  assert.equal((await client.customers.get(customer.id)).id, customer.id)
})

test('an unknown outcome without retry timeout returns its key', async () => {
  const before = countCreated()
  const body = buildCustomer()
  loseResponse()
  const unknown = await client.customers
    .create(body, { retryTimeoutMs: 0, reconcileTimeoutMs: 0 })
    .catch(error => error)
  assert.ok(unknown instanceof OutcomeUnknownError)
  await client.customers.create(body, { idempotencyKey: unknown.idempotencyKey })
  assert.equal(countCreated(), before + 1)
})
