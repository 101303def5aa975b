import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { buildCustomer, createCustomer } from '../../support/customer-bodies.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { put } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'

const shop = await startShopFixture()
const { api, simulator } = shop

/** Runs the customer sync, and `work` after a page has arrived and before it is stored. */
async function syncWhile(work: () => Promise<unknown>) {
  const { db, service } = api
  let running: Promise<void> | undefined
  await db.transaction(async tx => {
    // Rows are locked in their order, so a lock on the first row blocks the whole page.
    await tx.row(sql`select id from customer where service_id = ${service.id} order by id limit 1 for update`)
    running = shop.sync('customers')
    await waitForBlockedConnections({ db })
    await work()
  })
  await running
}
const getCustomer = async (id: string) => (await api.get(`/customers/${id}`)).json.data

test('a sync page does not overwrite a newer write', async () => {
  const { id } = await createCustomer(api, buildCustomer())
  const other = await createCustomer(api, buildCustomer())
  await syncWhile(async () => {
    const response = await put(api, `/customers/${id}`, { surname: 'Newer' })
    assert.equal(response.status, 200, response.text)
    simulator.change({ kind: 'edit-person', id: Number(id), fields: { firstname: 'Later' } })
    simulator.change({ kind: 'edit-person', id: Number(other.id), fields: { firstname: 'Unseen' } })
  })
  const { firstname, surname } = await getCustomer(id)
  assert.deepEqual([firstname, surname], ['Later', 'Newer'], 'a person that changed during the sync is read again')
  assert.equal((await getCustomer(other.id)).firstname, other.firstname, "the other customer has the page's data")
})

test('a sync page does not restore a customer that a write removed', async () => {
  const { id } = await createCustomer(api, buildCustomer())
  await syncWhile(async () => {
    simulator.change({ kind: 'remove-person', id: Number(id) })
    assert.equal((await put(api, `/customers/${id}`, { surname: 'Newer' })).status, 404)
  })
  assert.equal((await api.get(`/customers/${id}`)).status, 404)
})

test('an older state of a person does not restore withdrawn consent', async () => {
  const { id } = await createCustomer(api, buildCustomer({ emailSubscription: true }))
  const getConsent = async () => {
    const { privacy, emailSubscription, smsSubscription } = await getCustomer(id)
    return [privacy, emailSubscription, smsSubscription]
  }
  assert.deepEqual(await getConsent(), [false, true, false])
  assert.equal((await put(api, `/customers/${id}`, { privacy: true })).status, 200)
  const older = { privacy: false, firstname: 'Older', updated: '2024-05-06T10:00:00' }
  simulator.change({ kind: 'edit-person', id: Number(id), fields: older })
  await shop.sync('customers')
  assert.deepEqual(await getConsent(), [true, false, false])
  assert.equal((await getCustomer(id)).firstname, 'Older', 'other fields have the values of the back office')
  simulator.change({ kind: 'edit-person', id: Number(id), fields: { firstname: 'Newer' } })
  await shop.sync('customers')
  assert.deepEqual(await getConsent(), [false, false, false], 'a newer state of the person ends the privacy')
})
