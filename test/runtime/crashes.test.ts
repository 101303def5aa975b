import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { type Sql, sql } from '../../src/database/db.ts'
import { buildVoucher, openShopForProcesses, type WriteResponse } from '../support/installations/shop-processes.ts'
import { buildOrder, buildReturn } from '../support/order-shop.ts'
import { serve, stopServer, waitUntil } from '../support/processes.ts'

const shop = await openShopForProcesses()
/** A process that nothing is done to: it answers the repeats. */
const steady = await serve(['--no-demo'], shop.buildEnvironment('steady'))
after(async () => {
  await stopServer(steady)
  await shop.close()
})

interface Write {
  method: 'POST' | 'PUT'
  path: string
  body: object
  /** How often its effect is there. */
  effects: () => Promise<number>
}

const count = async (query: Sql) => (await shop.db.row<{ count: number }>(query))?.count ?? -1

const paidBy = (reference: string) =>
  buildOrder([{ sku: 'TEE', quantity: 1 }], { payments: [{ gateway: 'paypal', amount: '10.00', reference }] })

/** PINs of the locked vouchers. */
const pins = new Map<string, string>()

/** The writes that are killed at each crash point. Each creates the record that it changes. */
const writes: Record<string, (name: string) => Promise<Write>> = {
  async customer(name) {
    const email = `${name}@example.com`.toLowerCase()
    return {
      method: 'POST',
      path: '/customers',
      body: { firstname: 'Ann', surname: name, contact: { email } },
      effects: () =>
        count(sql`select count(*)::integer from customer where service_id = ${shop.service.id} and email = ${email}`),
    }
  },
  async order(name) {
    return {
      method: 'POST',
      path: '/orders',
      body: paidBy(name),
      effects: () =>
        count(
          sql`select count(*)::integer from order_payment where service_id = ${shop.service.id} and reference = ${name}`,
        ),
    }
  },
  async return(name) {
    const order = await shop.send(steady, 'POST', '/orders', paidBy(`for ${name}`))
    assert.equal(order.status, 201, order.code)
    return {
      method: 'POST',
      path: `/orders/${order.data.id}/returns`,
      body: buildReturn({ TEE: 1 }),
      effects: () =>
        count(
          sql`select count(*)::integer from sales_return where service_id = ${shop.service.id} and order_id = ${order.data.id}`,
        ),
    }
  },
  async voucher(name) {
    return {
      method: 'POST',
      path: '/vouchers',
      body: buildVoucher(name),
      // One voucher, one mail.
      effects: async () => {
        const created = await count(
          sql`select count(*)::integer from voucher_sale where service_id = ${shop.service.id} and order_number = ${name}`,
        )
        const mails = await count(
          sql`select count(*)::integer from email join voucher_sale on voucher_sale.service_id = email.service_id and number = voucher_number where email.service_id = ${shop.service.id} and order_number = ${name}`,
        )
        assert.equal(mails, created)
        return created
      },
    }
  },
  async lock(name) {
    const issued = await shop.send(steady, 'POST', '/vouchers', buildVoucher(`for ${name}`))
    assert.equal(issued.status, 201, issued.code)
    const { number, pin } = issued.data
    pins.set(name, pin)
    const validated = await shop.send(steady, 'POST', '/vouchers/validate', { number, pin, amount: '10.00' })
    assert.equal(validated.status, 200, validated.code)
    return {
      method: 'PUT',
      path: `/vouchers/${number}/lock`,
      body: { validationId: validated.data.validationId },
      effects: () =>
        count(
          sql`select count(*)::integer from voucher_entry where service_id = ${shop.service.id} and number = ${number} and kind = 'lock'`,
        ),
    }
  },
}

const crashPoints = ['before_effect', 'after_effect', 'before_commit', 'after_commit'] as const
const committed = (crashPoint: string) => crashPoint === 'after_commit'

for (const crashPoint of crashPoints)
  test(`a process killed at ${crashPoint} leaves one effect after the repeat`, async () => {
    for (const [kind, make] of Object.entries(writes)) {
      const name = `${kind}-${crashPoint}`
      const { method, path, body, effects } = await make(name)
      const doomed = await serve(['--no-demo'], shop.buildEnvironment('doomed', { FAILPOINT: crashPoint }))
      await assert.rejects(shop.send(doomed, method, path, body, name), kind)
      assert.equal((await doomed.ended).signal, 'SIGKILL')
      assert.equal(await effects(), committed(crashPoint) ? 1 : 0, name)
      const again = await repeatUntilDone(method, path, body, name)
      assert.deepEqual(
        [again.status, again.replayed],
        [method === 'POST' ? 201 : 200, committed(crashPoint)],
        `${name} ${again.code}`,
      )
      assert.equal(await effects(), 1, name)
      if (kind === 'voucher') assert.match(again.data.pin, /^\d{6}$/)
    }
  })

for (const crashPoint of ['before_commit', 'after_commit'] as const)
  test(`a voucher whose lock is killed at ${crashPoint} can be tried immediately`, async () => {
    const name = `lock-for-another-${crashPoint}`
    const { method, path, body } = (await writes.lock?.(name)) ?? assert.fail()
    const doomed = await serve(['--no-demo'], shop.buildEnvironment('doomed', { FAILPOINT: crashPoint }))
    await assert.rejects(shop.send(doomed, method, path, body, name))
    const number = path.split('/')[2]
    const another = await shop.send(steady, 'POST', '/vouchers/validate', {
      number,
      pin: pins.get(name),
      amount: '10.00',
    })
    assert.equal(another.code ?? another.status, committed(crashPoint) ? 'voucher_locked' : 200)
    const again = await repeatUntilDone(method, path, body, name)
    // Only the last validation can lock: the first one is invalid if another came in between.
    assert.equal(again.code ?? again.status, committed(crashPoint) ? 200 : 'validation_id_incorrect')
  })

for (const crashPoint of crashPoints)
  test(`a PostgreSQL killed at ${crashPoint} leaves one effect after the repeat`, async () => {
    // The two that touch the most tables; a start of PostgreSQL each.
    for (const kind of ['order', 'voucher'] as const) {
      const name = `${kind}-database-${crashPoint}`
      const make = writes[kind] ?? assert.fail()
      const { method, path, body, effects } = await make(name)
      const halted = await serve(['--no-demo'], shop.buildEnvironment('halted', { FAILPOINT: `${crashPoint}:stop` }))
      const response = shop.send(halted, method, path, body, name)
      await waitUntil(() => isHalted(halted.pid), 'the process halts')
      const { pid } = shop.postgres
      process.kill(pid, 'SIGKILL')
      await waitUntil(
        () => shop.postgres.pid !== pid && shop.db.row(sql`select 1`).catch(() => false),
        'PostgreSQL is back',
        20_000,
      )
      process.kill(halted.pid, 'SIGCONT')
      const first = await response
      // The write was committed, or the process tried again, or the response asks the caller to retry.
      assert.ok([200, 201, 503, 504].includes(first.status), `${name} ${first.status} ${first.code}`)
      const again = await repeatUntilDone(method, path, body, name)
      assert.equal(again.status, method === 'POST' ? 201 : 200, `${name} ${again.code}`)
      if (first.status < 300) assert.deepEqual(again.data, first.data)
      assert.equal(await effects(), 1, name)
      await stopServer(halted)
    }
  })

/** Repeats a request until its outcome is known. */
async function repeatUntilDone(method: string, path: string, body: object, key: string) {
  let response: WriteResponse | undefined
  await waitUntil(async () => {
    response = await shop.send(steady, method, path, body, key)
    return response.status < 500 && response.code !== 'idempotency_in_progress'
  }, 'the repeat gets its final response')
  return response as WriteResponse
}

const isHalted = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/\(.*\)/, ''))
