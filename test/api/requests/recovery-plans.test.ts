import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { embedded } from '../../../src/backoffice/embedded/embedded.ts'
import { openDatabase, sql } from '../../../src/database/db.ts'
import { executeWrite } from '../../../src/writes/execute.ts'
import { createIdentity } from '../../../src/writes/idempotency.ts'
import type { CommitPhase, Write } from '../../../src/writes/write.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { buildOrder, startOrderShop } from '../../support/order-shop.ts'

const { api } = await startOrderShop()
const { keys, service } = api
// Opens the pool as Tillbridge does for writes, with one connection, so that its prepared statements can be listed.
const db = openDatabase(api.database.connection, { max: 1, genericPlans: true })
after(async () => {
  await db.close()
  await api.stop()
})

async function write(
  operation: string,
  body: object,
  work: (write: Write) => Promise<CommitPhase<{ record: string }>>,
) {
  const actor = { username: 'planner', requestId: randomUUID() }
  const identity = createIdentity(keys, service, operation, randomUUID(), JSON.stringify(body))
  const request = { ...actor, operation, params: {}, body }
  await executeWrite({ db, keys }, service, identity, request, async runtime => {
    const status = { service, keys, origin: { address: '' }, requireMatch() {} }
    const commit = await work({ ...actor, ...status, ...runtime })
    return async tx => ({ response: { status: 201, body: (await commit(tx)).record, headers: {} } })
  })
}

test('a statement of a write is never replanned for its values', async () => {
  const office = embedded(service)
  for (let i = 0; i < 12; i++) {
    const customer = buildCustomer()
    await write('POST /customers', customer, run => office.createCustomer(run, customer))
    const order = buildOrder([{ sku: 'HOOD-S', quantity: 1 }])
    await write('POST /orders', order, run => office.placeOrder(run, order))
  }
  const plans = await db.rows<{ statement: string; custom: string; generic: string }>(
    sql`select statement, custom_plans::text as custom, generic_plans::text as generic from pg_prepared_statements`,
  )
  assert.ok(plans.length > 20, String(plans.length))
  assert.deepEqual(
    plans.filter(({ custom }) => custom !== '0').map(({ statement }) => statement),
    [],
  )
})
