import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { mergeCustomers, upsertCustomers } from '../../../src/store/customers/customers.ts'
import { removeCustomers } from '../../../src/store/customers/removal.ts'
import { createCustomer, startCustomerShop } from '../../support/customer-bodies.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { remove } from '../../support/write.ts'

const api = await startCustomerShop()
after(() => api.stop())
const admin = await api.createAccount('admin')

test('a former customer erased during an import of them stays erased', async () => {
  const { db, service } = api
  const { id } = await createCustomer(api)
  await db.transaction(tx => removeCustomers(tx, service, [id]))
  let erasing: ReturnType<typeof remove> | undefined
  await db.transaction(async tx => {
    await mergeCustomers(tx, service, [{ id, firstname: 'Back' }])
    erasing = remove(admin, `/customers/${id}`)
    await waitForBlockedConnections(api)
  })
  const response = await erasing
  assert.equal(response?.status, 200)
  assert.equal(response?.json.data.status, 'erasing')
  assert.equal((await api.get(`/customers/${id}`)).status, 404)
  await assert.rejects(upsertCustomers(db, service, [{ id }]), 'an erased customer must not come back')
})
