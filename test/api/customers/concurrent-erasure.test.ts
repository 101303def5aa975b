import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { mergeCustomers, upsertCustomers } from '../../../src/store/customers/customers.ts'
import { removeCustomers } from '../../../src/store/customers/removal.ts'
import { createCustomer, startCustomerShop, waitForBlockedConnections } from '../../support/customer-bodies.ts'
import { remove } from '../../support/write.ts'

const shop = await startCustomerShop()
after(() => shop.stop())
const admin = await shop.createAccount('admin')

test('a former customer erased during an import of them stays erased', async () => {
  const { db, service } = shop
  const { id } = await createCustomer(shop)
  await db.transaction(tx => removeCustomers(tx, service, [id]))
  let erasing: ReturnType<typeof remove> | undefined
  await db.transaction(async tx => {
    await mergeCustomers(tx, service, [{ id, firstname: 'Back' }])
    erasing = remove(admin, `/customers/${id}`)
    await waitForBlockedConnections(shop, 1)
  })
  const response = await erasing
  assert.equal(response?.status, 200)
  assert.equal(response?.json.data.status, 'erasing')
  assert.equal((await shop.get(`/customers/${id}`)).status, 404)
  await assert.rejects(upsertCustomers(db, service, [{ id }]), 'who was erased does not come back')
})
