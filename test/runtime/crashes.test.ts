import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Sql, sql } from '../../src/database/db.ts'
import { buildVoucher, openShopForProcesses, type WriteResponse } from '../support/installations/shop-processes.ts'
import { buildOrder, buildReturn } from '../support/order-shop.ts'
import { isHalted, serve, stopServer, waitUntil } from '../support/processes.ts'

const shop = await openShopForProcesses()
/** The server that is never killed. It receives the repeated requests. */
const healthyServer = await serve(['--no-demo'], shop.buildEnvironment('steady'))
after(async () => {
  await stopServer(healthyServer)
  await shop.close()
})

interface Write {
  method: 'POST' | 'PUT'
  path: string
  body: object
  /** Counts the effects of the write. */
  countEffects: () => Promise<number>
}

const selectCount = async (query: Sql) => (await shop.db.row<{ count: number }>(query))?.count ?? -1

const buildPaidOrder = (reference: string) =>
  buildOrder([{ sku: 'TEE', quantity: 1 }], { payments: [{ gateway: 'paypal', amount: '10.00', reference }] })

/** The PINs of the locked vouchers, by the name of the write. */
const pinsByName = new Map<string, string>()

/** The writes that are killed at each crash point. Each creates the record that it changes. */
const createWrites: Record<string, (name: string) => Promise<Write>> = {
  async customer(name) {
    const email = `${name}@example.com`.toLowerCase()
    return {
      method: 'POST',
      path: '/customers',
      body: { firstname: 'Ann', surname: name, contact: { email } },
      countEffects: () =>
        selectCount(
          sql`select count(*)::integer from customer where service_id = ${shop.service.id} and email = ${email}`,
        ),
    }
  },
  async order(name) {
    return {
      method: 'POST',
      path: '/orders',
      body: buildPaidOrder(name),
      countEffects: () =>
        selectCount(
          sql`select count(*)::integer from order_payment where service_id = ${shop.service.id} and reference = ${name}`,
        ),
    }
  },
  async return(name) {
    const order = await shop.send(healthyServer, 'POST', '/orders', buildPaidOrder(`for ${name}`))
    assert.equal(order.status, 201, order.code)
    return {
      method: 'POST',
      path: `/orders/${order.data.id}/returns`,
      body: buildReturn({ TEE: 1 }),
      countEffects: () =>
        selectCount(
          sql`select count(*)::integer from sales_return where service_id = ${shop.service.id} and order_id = ${order.data.id}`,
        ),
    }
  },
  async voucher(name) {
    return {
      method: 'POST',
      path: '/vouchers',
      body: buildVoucher(name),
      // Each voucher has one email.
      countEffects: async () => {
        const created = await selectCount(
          sql`select count(*)::integer from voucher_sale where service_id = ${shop.service.id} and order_number = ${name}`,
        )
        const emails = await selectCount(
          sql`select count(*)::integer from email join voucher_sale on voucher_sale.service_id = email.service_id and number = voucher_number where email.service_id = ${shop.service.id} and order_number = ${name}`,
        )
        assert.equal(emails, created)
        return created
      },
    }
  },
  async lock(name) {
    const issued = await shop.send(healthyServer, 'POST', '/vouchers', buildVoucher(`for ${name}`))
    assert.equal(issued.status, 201, issued.code)
    const { number, pin } = issued.data
    pinsByName.set(name, pin)
    const validated = await shop.send(healthyServer, 'POST', '/vouchers/validate', { number, pin, amount: '10.00' })
    assert.equal(validated.status, 200, validated.code)
    return {
      method: 'PUT',
      path: `/vouchers/${number}/lock`,
      body: { validationId: validated.data.validationId },
      countEffects: () =>
        selectCount(
          sql`select count(*)::integer from voucher_entry where service_id = ${shop.service.id} and number = ${number} and kind = 'lock'`,
        ),
    }
  },
}

const crashPoints = ['before_effect', 'after_effect', 'before_commit', 'after_commit'] as const
const isCommitted = (crashPoint: string) => crashPoint === 'after_commit'

for (const crashPoint of crashPoints)
  test(`a process killed at ${crashPoint} leaves one effect after the repeat`, async () => {
    for (const [kind, createWrite] of Object.entries(createWrites)) {
      const name = `${kind}-${crashPoint}`
      const { method, path, body, countEffects } = await createWrite(name)
      const killedServer = await serve(['--no-demo'], shop.buildEnvironment('doomed', { FAILPOINT: crashPoint }))
      await assert.rejects(shop.send(killedServer, method, path, body, name), kind)
      assert.equal((await killedServer.ended).signal, 'SIGKILL')
      assert.equal(await countEffects(), isCommitted(crashPoint) ? 1 : 0, name)
      const repeated = await repeatUntilDone(method, path, body, name)
      assert.deepEqual(
        [repeated.status, repeated.replayed],
        [method === 'POST' ? 201 : 200, isCommitted(crashPoint)],
        `${name} ${repeated.code}`,
      )
      assert.equal(await countEffects(), 1, name)
      if (kind === 'voucher') assert.match(repeated.data.pin, /^\d{6}$/)
    }
  })

for (const crashPoint of ['before_commit', 'after_commit'] as const)
  test(`a voucher whose lock is killed at ${crashPoint} can be tried immediately`, async () => {
    const name = `lock-for-another-${crashPoint}`
    const { method, path, body } = (await createWrites.lock?.(name)) ?? assert.fail()
    const killedServer = await serve(['--no-demo'], shop.buildEnvironment('doomed', { FAILPOINT: crashPoint }))
    await assert.rejects(shop.send(killedServer, method, path, body, name))
    const number = path.split('/')[2]
    const otherValidation = await shop.send(healthyServer, 'POST', '/vouchers/validate', {
      number,
      pin: pinsByName.get(name),
      amount: '10.00',
    })
    assert.equal(otherValidation.code ?? otherValidation.status, isCommitted(crashPoint) ? 'voucher_locked' : 200)
    const repeated = await repeatUntilDone(method, path, body, name)
    // Only the latest validation can lock. The other validation made the first one invalid.
    assert.equal(repeated.code ?? repeated.status, isCommitted(crashPoint) ? 200 : 'validation_id_incorrect')
  })

for (const crashPoint of crashPoints)
  test(`a PostgreSQL killed at ${crashPoint} leaves one effect after the repeat`, async () => {
    // Only the two writes that change the most tables, because each needs a start of PostgreSQL.
    for (const kind of ['order', 'voucher'] as const) {
      const name = `${kind}-database-${crashPoint}`
      const createWrite = createWrites[kind] ?? assert.fail()
      const { method, path, body, countEffects } = await createWrite(name)
      const haltedServer = await serve(
        ['--no-demo'],
        shop.buildEnvironment('halted', { FAILPOINT: `${crashPoint}:stop` }),
      )
      const response = shop.send(haltedServer, method, path, body, name)
      await waitUntil(() => isHalted(haltedServer.pid), 'the process halts')
      const { pid } = shop.postgres
      process.kill(pid, 'SIGKILL')
      await waitUntil(
        () => shop.postgres.pid !== pid && shop.db.row(sql`select 1`).catch(() => false),
        'PostgreSQL accepts connections',
        20_000,
      )
      process.kill(haltedServer.pid, 'SIGCONT')
      const first = await response
      // The write was committed at once or by a retry of the server, or the client must retry.
      assert.ok([200, 201, 503, 504].includes(first.status), `${name} ${first.status} ${first.code}`)
      const repeated = await repeatUntilDone(method, path, body, name)
      assert.equal(repeated.status, method === 'POST' ? 201 : 200, `${name} ${repeated.code}`)
      if (first.status < 300) assert.deepEqual(repeated.data, first.data)
      assert.equal(await countEffects(), 1, name)
      await stopServer(haltedServer)
    }
  })

/** Repeats a request until the response is final. */
async function repeatUntilDone(method: string, path: string, body: object, key: string) {
  let response: WriteResponse | undefined
  await waitUntil(async () => {
    response = await shop.send(healthyServer, method, path, body, key)
    return response.status < 500 && response.code !== 'idempotency_in_progress'
  }, 'the repeat gets its final response')
  return response as WriteResponse
}
