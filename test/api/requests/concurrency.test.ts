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

/** Sends a request of the i-th client. The clients alternate between the processes. */
const send = (i: number, method: string, path: string, body: object, key?: string) =>
  shop.send(processes[i % processes.length] as RunningServer, method, path, body, key)

const runClients = (clients: number, work: (i: number) => Promise<WriteResponse>) =>
  Promise.all(Array.from({ length: clients }, (_, i) => work(i)))

const countStatuses = (responses: readonly WriteResponse[]) =>
  Object.fromEntries(
    [...Map.groupBy(responses, ({ status, code }) => code ?? status)].map(([outcome, { length }]) => [outcome, length]),
  )

const issueVoucher = async (name: string, amount?: string) => {
  const { status, data, code } = await send(0, 'POST', '/vouchers', buildVoucher(name, amount))
  assert.equal(status, 201, code)
  return data as { number: string; pin: string }
}

test('50 concurrent requests with one key have one effect and one response', async () => {
  const body = buildVoucher('same-key')
  const responses = await runClients(50, async i => {
    for (;;) {
      const response = await send(i, 'POST', '/vouchers', body, 'same-key')
      if (response.code !== 'idempotency_in_progress') return response
      await delay(200)
    }
  })
  assert.deepEqual(countStatuses(responses), { 201: 50 })
  assert.equal(new Set(responses.map(({ data }) => JSON.stringify(data))).size, 1)
  assert.equal(responses.filter(({ replayed }) => !replayed).length, 1)
  const created = await shop.db.rows(
    sql`select from voucher_sale where service_id = ${shop.service.id} and order_number = 'same-key'`,
  )
  assert.equal(created.length, 1)
})

test('20 concurrent creates with one email create one customer', async () => {
  const responses = await runClients(20, i =>
    send(i, 'POST', '/customers', {
      firstname: `N${i}`,
      surname: 'One',
      contact: { email: i % 2 ? 'One@Example.com' : 'one@example.com' },
    }),
  )
  assert.deepEqual(countStatuses(responses), { 201: 1, email_taken: 19 })
})

test('20 clients retrying for one voucher hold it one at a time', async () => {
  const { number, pin } = await issueVoucher('locked')
  let holders = 0
  let maxHolders = 0
  let lockCount = 0
  await runClients(20, async i => {
    let last: WriteResponse | undefined
    for (let round = 0; round < 20; round++) {
      await delay(Math.random() * 200)
      last = await send(i, 'POST', '/vouchers/validate', { number, pin, amount: '1.00' })
      const { validationId } = last.data ?? {}
      if (!validationId) continue
      last = await send(i, 'PUT', `/vouchers/${number}/lock`, { validationId, lockSeconds: 60 })
      if (last.status !== 200) continue
      // Between the response that locks the voucher and the request that unlocks it, no other client can lock it.
      lockCount++
      maxHolders = Math.max(maxHolders, ++holders)
      await delay(5)
      holders--
      last = await send(i, 'PUT', `/vouchers/${number}/lock`, { validationId, lockSeconds: 0 })
      assert.equal(last.status, 200, last.code)
    }
    return last as WriteResponse
  })
  assert.equal(maxHolders, 1)
  assert.ok(lockCount >= 2, `${lockCount} locks`)
})

test("200 concurrent payments never draw more than one voucher's balance", async () => {
  // The first order of a service searches for its first number. That isn't part of this race.
  const first = await send(0, 'POST', '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }]))
  assert.equal(first.status, 201, first.code)
  const { number, pin } = await issueVoucher('drawn', '9.00')
  const pay = async (i: number): Promise<WriteResponse> => {
    let last: WriteResponse | undefined
    for (let attempt = 0; attempt < 5; attempt++) {
      last = await send(i, 'POST', '/vouchers/validate', { number, pin, amount: '3.00' })
      const { validationId } = last.data ?? {}
      if (validationId) {
        const paid = { gateway: 'visa', amount: '3.00', voucher: { number, validationId } }
        const payments = [paid, { gateway: 'paypal', amount: '7.00' }]
        last = await send(i, 'POST', '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }], { payments }))
      }
      // Another client can have validated the voucher since, and so many requests can wait too long for a connection.
      if (!['validation_id_incorrect', 'voucher_locked', 'service_unavailable'].includes(last.code)) break
      await delay(Math.random() * 500)
    }
    return last as WriteResponse
  }
  const responses = await runClients(200, pay)
  const paid = responses.filter(({ status }) => status === 201).length
  assert.ok(paid >= 1 && paid <= 3, JSON.stringify(countStatuses(responses)))
  const [row] = await shop.db.rows<{ balance: string; drawn: string }>(sql`
    select balance::numeric(12, 2)::text as balance, (select sum(amount)::numeric(12, 2)::text from voucher_entry e where e.service_id = v.service_id and e.number = v.number and kind = 'redeem') as drawn
      from voucher v where service_id = ${shop.service.id} and number = ${number}`)
  assert.deepEqual(row, { balance: (9 - 3 * paid).toFixed(2), drawn: (-3 * paid).toFixed(2) })
})

test('concurrent returns never exceed the quantity sold', async () => {
  const order = await send(0, 'POST', '/orders', buildOrder([{ sku: 'TEE', quantity: 5 }]))
  assert.equal(order.status, 201, order.code)
  const responses = await runClients(30, i =>
    send(i, 'POST', `/orders/${order.data.id}/returns`, buildReturn({ TEE: 1 })),
  )
  assert.deepEqual(countStatuses(responses), { 201: 5, quantity_exceeds_returnable: 25 })
})

test('64 clients of two processes never buy more than the stock', async () => {
  await shop.db.run(
    sql`update service set settings = settings || '{"oversell":"refuse"}' where service_id = ${shop.service.id}`,
  )
  const buy = (i: number, quantity: number) => send(i, 'POST', '/orders', buildOrder([{ sku: 'TEE', quantity }]))
  for (const i of [0, 1])
    await waitUntil(async () => (await buy(i, 9_000)).code === 'insufficient_stock', 'the setting applies', 10_000)
  // An order can be accepted until both processes have read the setting.
  await shop.db.run(sql`update stock set free_stock = 4 where service_id = ${shop.service.id} and sku_id = 'id-TEE'`)
  const responses = await runClients(64, i => buy(i, 1))
  assert.deepEqual(countStatuses(responses), { 201: 4, insufficient_stock: 60 })
})
