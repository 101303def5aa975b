import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { buildCustomer, createCustomer } from '../../support/customer-bodies.ts'
import { waitUntil } from '../../support/processes.ts'
import { put } from '../../support/write.ts'
import { shopOfTests } from '../shop.ts'

const shop = await shopOfTests()
const { api, simulator } = shop

/** Pulls all customers; work is done when their page has come, and before it is put in. */
async function pullWhile(work: () => Promise<unknown>) {
  const { db, service } = api
  let pulled: Promise<void> | undefined
  await db.transaction(async tx => {
    // Rows are locked in their order, so a lock on the first row blocks the whole page.
    await tx.row(sql`select id from customer where service_id = ${service.id} order by id limit 1 for update`)
    pulled = shop.sync('customers')
    const waits = sql`
      select true as waits from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await waitUntil(() => db.row(waits), 'the page waits')
    await work()
  })
  await pulled
}
const shown = async (id: string) => (await api.get(`/customers/${id}`)).json.data

test('a sync page does not overwrite a newer write', async () => {
  const { id } = await createCustomer(api, buildCustomer())
  const other = await createCustomer(api, buildCustomer())
  await pullWhile(async () => {
    const response = await put(api, `/customers/${id}`, { surname: 'Newer' })
    assert.equal(response.status, 200, response.text)
    simulator.change({ kind: 'edit-person', id: Number(id), fields: { firstname: 'Later' } })
    simulator.change({ kind: 'edit-person', id: Number(other.id), fields: { firstname: 'Unseen' } })
  })
  const { firstname, surname } = await shown(id)
  assert.deepEqual([firstname, surname], ['Later', 'Newer'], 'a person that changed during the read is read again')
  assert.equal((await shown(other.id)).firstname, other.firstname, 'the rest is as the page has it')
})

test('a sync page does not restore a customer that a write removed', async () => {
  const { id } = await createCustomer(api, buildCustomer())
  await pullWhile(async () => {
    simulator.change({ kind: 'remove-person', id: Number(id) })
    assert.equal((await put(api, `/customers/${id}`, { surname: 'Newer' })).status, 404)
  })
  assert.equal((await api.get(`/customers/${id}`)).status, 404)
})

test('an older state of a person does not restore withdrawn consent', async () => {
  const { id } = await createCustomer(api, buildCustomer({ emailSubscription: true }))
  const consent = async () => {
    const { privacy, emailSubscription, smsSubscription } = await shown(id)
    return [privacy, emailSubscription, smsSubscription]
  }
  assert.deepEqual(await consent(), [false, true, false])
  assert.equal((await put(api, `/customers/${id}`, { privacy: true })).status, 200)
  const older = { privacy: false, firstname: 'Older', updated: '2024-05-06T10:00:00' }
  simulator.change({ kind: 'edit-person', id: Number(id), fields: older })
  await shop.sync('customers')
  assert.deepEqual(await consent(), [true, false, false])
  assert.equal((await shown(id)).firstname, 'Older', 'the back office decides about other fields')
  simulator.change({ kind: 'edit-person', id: Number(id), fields: { firstname: 'Newer' } })
  await shop.sync('customers')
  assert.deepEqual(await consent(), [false, false, false], 'a newer person ends the privacy')
})
