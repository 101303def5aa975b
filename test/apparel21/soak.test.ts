import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSoak } from '../../scenarios/soak/soak.ts'
import type { CheckResult } from '../../scenarios/support/expectations/check.ts'
import { abandoned } from '../../scenarios/support/operations/client.ts'
import { sql } from '../../src/database/db.ts'
import { createTestDatabase } from '../support/database.ts'

const getFailedTitles = (checks: readonly CheckResult[]) =>
  checks.filter(({ holds }) => !holds).map(({ title }) => title)

test('records agree after faults and kills, and the checks find planted errors', async t => {
  const { connection, drop } = await createTestDatabase()
  t.after(drop)
  const soak = await runSoak({
    seed: 5,
    seconds: 6,
    shoppers: 4,
    release: '2025.1',
    backOffice: 'apparel21',
    database: { url: connection, stop: async () => {} },
    sizes: { stores: 4, styles: 12, persons: 40, vouchers: 6 },
  })
  t.after(soak.close)
  const checks = await soak.check()
  assert.deepEqual(
    checks.filter(({ holds }) => !holds),
    [],
  )
  assert.ok(checks.length >= 38, `${checks.length}`)
  assert.ok([...soak.faults.values()].reduce((sum, count) => sum + count, 0) > 10)
  assert.match(soak.kills, /api-1 [1-9]|api-2 [1-9]/)

  const { installation, history, simulator = assert.fail() } = soak
  const { db, service } = installation
  const [order] = history.acknowledged('order')
  const [customer] = history.acknowledged('customer')
  assert.ok(order && customer)
  const orderId = order.outcome.data?.id ?? assert.fail()
  await db.run(sql`delete from sales_order where service_id = ${service.id} and id = ${orderId}`)
  await db.run(sql`update stock set record = regexp_replace(record, '"freeStock":[-0-9]+', '"freeStock":999')
    where ctid = (select ctid from stock where service_id = ${service.id} limit 1)`)
  const [person] = simulator.state.persons.values()
  assert.ok(person)
  person.surname = 'Spoilt'
  simulator.state.orders.set(-1, { ...(simulator.state.orders.get(Number(orderId)) ?? assert.fail()), id: -1 })
  // The client abandoned this write, so the customer can be in the back office only.
  customer.outcome.status = abandoned
  await db.run(
    sql`update customer set email = null where service_id = ${service.id} and email = ${`${customer.key}@shopper.test`}`,
  )
  await db.run(sql`
    insert into intent (service_id, id, operation, request_hash, request, token, claimed_until, next_check_at)
    values (${service.id}, gen_random_uuid(), 'POST /orders', '', '', gen_random_uuid(), now() + interval '1 hour', now() + interval '1 hour')`)
  const failed = getFailedTitles(await soak.check())
  for (const begin of [
    'customers: the list',
    'stock: ',
    'orders in our tables: ',
    'orders at the back office: ',
    'customers: back office, our tables',
    'orders: all that were ever created',
    'no write is open',
  ])
    assert.ok(
      failed.some(title => title.startsWith(begin)),
      `${begin} is not among ${failed}`,
    )
})
