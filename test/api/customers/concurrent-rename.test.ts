import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type PreparedPerson, storePerson } from '../../../src/backoffice/apparel21/queries/persons.ts'
import { sql } from '../../../src/database/db.ts'
import { upsertProducts } from '../../../src/store/catalog/products.ts'
import { upsertReferences } from '../../../src/store/catalog/references.ts'
import { upsertStores } from '../../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { startCustomerShop } from '../../support/customer-bodies.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'

const api = await startCustomerShop()
after(() => api.stop())
const { db, service } = api

const interest = { type: 'interest', referenceValueId: '12', code: 'RUN', name: 'Running' }
const store = { storeId: '1001', storeNumber: '101', code: 'COL', name: 'Collins Street' }
const columns = {
  customer: `(service_id, id, changed_at, record, ecommerce_ids) values ($1, '9', now(), '', '')`,
  product: `(service_id, product_id, changed_at, record, product_code, name) values ($1, '9', now(), '', '', '')`,
}

/**
 * Renames a value while rows that contain it are merged and wait for the locked row with the ID `9`. Returns true if the
 * renaming waited for the merge. It must wait if the rows may have been rendered with the old name.
 */
async function renameDuringMerge(
  into: keyof typeof columns,
  merge: () => Promise<unknown>,
  renameRow: () => Promise<unknown>,
) {
  await upsertReferences(db, service, [interest])
  await upsertStores(db, service, [store])
  const holder = await db.pool.connect()
  try {
    await holder.query('begin')
    await holder.query(`insert into ${into} ${columns[into]}`, [service.id])
    const merging = merge()
    await waitForBlockedConnections(api)
    const renaming = renameRow()
    const hasWaited = await Promise.race([
      renaming.then(() => false),
      waitForBlockedConnections(api, 2).then(() => true),
    ])
    await holder.query('rollback')
    await Promise.all([merging, renaming])
    return hasWaited
  } finally {
    holder.release(true)
  }
}

const renameValue = () => upsertReferences(db, service, [{ ...interest, name: 'Trail running' }])

test('a new customer shows names changed during its creation', async () => {
  const buildRows = (...ids: string[]) =>
    ids.map(id => ({ id, referenceValues: { interest: '12' }, joinedStoreId: '1001' }))
  await renameDuringMerge('customer', () => upsertCustomers(db, service, buildRows('1', '9')), renameValue)
  assert.equal((await api.get('/customers/1')).json.data.references.interest.name, 'Trail running')
  await db.run(sql`delete from customer where service_id = ${service.id} and id = '9'`)
  const renameStore = () => upsertStores(db, service, [{ ...store, code: 'NEW' }])
  await renameDuringMerge('customer', () => upsertCustomers(db, service, buildRows('2', '9')), renameStore)
  assert.equal((await api.get('/customers/2')).json.data.joinedStoreCode, 'NEW')
})

test('a person written by an Apparel21 write shows a value renamed concurrently', async () => {
  await db.run(sql`delete from customer where service_id = ${service.id} and id = '9'`)
  const row = { id: '9', firstname: 'Ann', privacy: true, referenceValues: { interest: '12' } }
  const person = { row, references: [] } as unknown as PreparedPerson
  assert.ok(
    await renameDuringMerge('customer', () => db.transaction(tx => storePerson(tx, service, person)), renameValue),
  )
  assert.equal((await api.get('/customers/9')).json.data.references.interest.name, 'Trail running')
})

test('a new product shows a value renamed during its import', async () => {
  const buildParts = (productId: string) => ({
    product: { productId, productCode: productId, name: productId, referenceValues: { interest: '12' } },
    colour: { productId, colourId: 'BLK', code: 'BLK', name: 'Black' },
    variant: { productId, colourId: 'BLK', skuId: productId, sizeCode: '-', price: '1.00' },
  })
  assert.ok(
    await renameDuringMerge(
      'product',
      () => upsertProducts(db, service, [buildParts('1'), buildParts('9')]),
      renameValue,
    ),
  )
  const [product] = (await api.get('/products')).json.data
  assert.equal(product.references.interest.name, 'Trail running')
})
