import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRejected, buildCustomer, createCustomer } from '../../support/customer-bodies.ts'
import { getCreatedRecord } from '../../support/order-shop.ts'
import { put } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'
import { createReturnFixture } from './returns.ts'

const buildReason = (code: string) => ({ code, name: code.toLowerCase() })
const mapping = { email: { type: 'eMailOptIn', yes: '4421', no: '4422' } }
const shop = await startShopFixture({
  returnReasons: [buildReason('SIZE'), buildReason('TORN')],
  subscriptionMapping: mapping,
})
const { api, simulator } = shop
const shopper = await createOrderFixture(shop)
const { tee } = shopper
const { placeOrder, postReturn, getLastReturn } = createReturnFixture(shop, shopper)
const addReference = (typeId: number, code: string) =>
  simulator.change({ kind: 'add-reference', typeId, code, name: code })
const listReasons = async () => (await api.get('/return-reasons')).json.data.map(({ code }: { code: string }) => code)

test('a new reference value in the back office can be used immediately', async () => {
  const [first, second] = [addReference(1321, 'NEW1'), addReference(1321, 'NEW2')]
  const customer = await createCustomer(api, buildCustomer({ references: { shopsFor: first } }))
  assert.deepEqual(customer.references.shopsFor, { code: 'NEW1', name: 'NEW1', referenceValueId: first })
  const changed = await put(api, `/customers/${customer.id}`, { references: { shopsFor: second } })
  assert.equal(changed.status, 200, changed.text)
  assert.equal(changed.json.data.references.shopsFor.code, 'NEW2')
  assert.equal(simulator.state.persons.get(Number(customer.id))?.references.get(1321), Number(second))
})

test('a reference value unknown upstream is rejected with its pointer', async () => {
  const id = (await createCustomer(api, buildCustomer())).id
  simulator.ledger.clear()
  for (const value of ['987654', '4421', '../Persons', 'x', '9'.repeat(30)])
    assertRejected(
      api,
      await put(api, `/customers/${id}`, { references: { shopsFor: value } }),
      'invalid_field',
      '/references/shopsFor',
    )
  assert.equal(simulator.ledger.findCalls({ method: 'PUT' }).length, 0)
})

test('return reasons include new ones of the back office', async () => {
  assert.deepEqual(await listReasons(), ['SIZE'])
  const order = await placeOrder({ [tee.sku]: 2 })
  const torn = { lines: [{ sku: tee.sku, quantity: 1, reasonCode: 'TORN' }] }
  assertRejected(api, await postReturn(order.id, {}, torn), 'invalid_field', '/lines/0/reasonCode')
  const id = addReference(272, 'torn')
  getCreatedRecord(await postReturn(order.id, {}, torn))
  assert.equal(getLastReturn().lines[0]?.returnReasonId, id)
  assert.deepEqual(await listReasons(), ['SIZE', 'TORN'])
})

test('a known return reason stays valid during an outage', async () => {
  const reasonsBefore = await listReasons()
  await simulator.stopAccepting()
  assert.deepEqual(await listReasons(), reasonsBefore)
})
