import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/db.ts'
import { buildVoucher, openShopForProcesses, type WriteResponse } from '../../support/installations/shop-processes.ts'
import { buildOrder, buildReturn } from '../../support/order-shop.ts'
import { type RunningServer, serve, stopServer, waitUntil } from '../../support/processes.ts'

const shop = await openShopForProcesses()
/** Two processes on one database. */
const processes = await Promise.all(['one', 'other'].map(name => serve(['--no-demo'], shop.buildEnvironment(name))))
after(async () => {
  await Promise.all(processes.map(process => stopServer(process)))
  await shop.close()
})

/** The i-th client's request; clients take turns with the processes. */
const ask = (i: number, method: string, path: string, body: object, key?: string) =>
  shop.send(processes[i % processes.length] as RunningServer, method, path, body, key)

const all = (clients: number, work: (i: number) => Promise<WriteResponse>) =>
  Promise.all(Array.from({ length: clients }, (_, i) => work(i)))

const statuses = (responses: readonly WriteResponse[]) =>
  Object.fromEntries(
    [...Map.groupBy(responses, ({ status, code }) => code ?? status)].map(([of, { length }]) => [of, length]),
  )

const voucher = async (name: string, amount?: string) => {
  const { status, data, code } = await ask(0, 'POST', '/vouchers', buildVoucher(name, amount))
  assert.equal(status, 201, code)
  return data as { number: string; pin: string }
}

test('50 concurrent requests with one key have one effect and one response', async () => {
  const body = buildVoucher('same-key')
  const responses = await all(50, async i => {
    for (;;) {
      const response = await ask(i, 'POST', '/vouchers', body, 'same-key')
      if (response.code !== 'idempotency_in_progress') return response
      await delay(200)
    }
  })
  assert.deepEqual(statuses(responses), { 201: 50 })
  assert.equal(new Set(responses.map(({ data }) => JSON.stringify(data))).size, 1)
  assert.equal(responses.filter(({ replayed }) => !replayed).length, 1)
  const created = await shop.db.rows(
    sql`select from voucher_sale where service_id = ${shop.service.id} and order_number = 'same-key'`,
  )
  assert.equal(created.length, 1)
})

test('20 concurrent creates with one email create one customer', async () => {
  const responses = await all(20, i =>
    ask(i, 'POST', '/customers', {
      firstname: `N${i}`,
      surname: 'One',
      contact: { email: i % 2 ? 'One@Example.com' : 'one@example.com' },
    }),
  )
  assert.deepEqual(statuses(responses), { 201: 1, email_taken: 19 })
})

test('20 clients retrying for one voucher hold it one at a time', async () => {
  const { number, pin } = await voucher('locked')
  let holders = 0
  let maxHolders = 0
  let locked = 0
  await all(20, async i => {
    let last: WriteResponse | undefined
    for (let round = 0; round < 20; round++) {
      await delay(Math.random() * 200)
      last = await ask(i, 'POST', '/vouchers/validate', { number, pin, amount: '1.00' })
      const { validationId } = last.data ?? {}
      if (!validationId) continue
      last = await ask(i, 'PUT', `/vouchers/${number}/lock`, { validationId, lockSeconds: 60 })
      if (last.status !== 200) continue
      // From the response that locks the voucher to the request that unlocks it, no other client may lock it.
      locked++
      maxHolders = Math.max(maxHolders, ++holders)
      await delay(5)
      holders--
      last = await ask(i, 'PUT', `/vouchers/${number}/lock`, { validationId, lockSeconds: 0 })
      assert.equal(last.status, 200, last.code)
    }
    return last as WriteResponse
  })
  assert.equal(maxHolders, 1)
  assert.ok(locked >= 2, `${locked} held it`)
})

test("200 concurrent payments never draw more than one voucher's balance", async () => {
  // The first order of all looks for the number that it begins with; that is not what is raced for.
  const first = await ask(0, 'POST', '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }]))
  assert.equal(first.status, 201, first.code)
  const { number, pin } = await voucher('drawn', '9.00')
  const pay = async (i: number): Promise<WriteResponse> => {
    let last: WriteResponse | undefined
    for (let attempt = 0; attempt < 5; attempt++) {
      last = await ask(i, 'POST', '/vouchers/validate', { number, pin, amount: '3.00' })
      const { validationId } = last.data ?? {}
      if (validationId) {
        const paid = { gateway: 'visa', amount: '3.00', voucher: { number, validationId } }
        const payments = [paid, { gateway: 'paypal', amount: '7.00' }]
        last = await ask(i, 'POST', '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }], { payments }))
      }
      // Another shopper may have validated it since, and so many at once may have to wait for a connection.
      if (!['validation_id_incorrect', 'voucher_locked', 'service_unavailable'].includes(last.code)) break
      await delay(Math.random() * 500)
    }
    return last as WriteResponse
  }
  const responses = await all(200, pay)
  const paid = responses.filter(({ status }) => status === 201).length
  assert.ok(paid >= 1 && paid <= 3, JSON.stringify(statuses(responses)))
  const [row] = await shop.db.rows<{ balance: string; drawn: string }>(sql`
    select balance::numeric(12, 2)::text as balance, (select sum(amount)::numeric(12, 2)::text from voucher_entry e where e.service_id = v.service_id and e.number = v.number and kind = 'redeem') as drawn
      from voucher v where service_id = ${shop.service.id} and number = ${number}`)
  assert.deepEqual(row, { balance: (9 - 3 * paid).toFixed(2), drawn: (-3 * paid).toFixed(2) })
})

test('concurrent returns never exceed the quantity sold', async () => {
  const order = await ask(0, 'POST', '/orders', buildOrder([{ sku: 'TEE', quantity: 5 }]))
  assert.equal(order.status, 201, order.code)
  const responses = await all(30, i => ask(i, 'POST', `/orders/${order.data.id}/returns`, buildReturn({ TEE: 1 })))
  assert.deepEqual(statuses(responses), { 201: 5, quantity_exceeds_returnable: 25 })
})

test('64 clients of two processes never buy more than the stock', async () => {
  await shop.db.run(
    sql`update service set settings = settings || '{"oversell":"refuse"}' where service_id = ${shop.service.id}`,
  )
  const buy = (i: number, quantity: number) => ask(i, 'POST', '/orders', buildOrder([{ sku: 'TEE', quantity }]))
  for (const i of [0, 1])
    await waitUntil(async () => (await buy(i, 9_000)).code === 'insufficient_stock', 'the setting applies', 10_000)
  // An order can be accepted until both processes have read the setting.
  await shop.db.run(sql`update stock set free_stock = 4 where service_id = ${shop.service.id} and sku_id = 'id-TEE'`)
  const responses = await all(64, i => buy(i, 1))
  assert.deepEqual(statuses(responses), { 201: 4, insufficient_stock: 60 })
})
