import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { raw, sql } from '../../../src/database/db.ts'
import { buildOrder, getStock, placeOrder, startOrderShop } from '../../support/order-shop.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { waitUntil } from '../../support/processes.ts'
import { startTestApi } from '../../support/service.ts'
import { post, withKey } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())

/** Sets a default for new connections. */
const setDefault = (setting: string) =>
  api.db.run(sql`${raw(`alter database "${new URL(api.database.connection).pathname.slice(1)}" set ${setting}`)}`)

for (const isolation of ['serializable', 'repeatable read'])
  test(`concurrent writes succeed if the default transaction isolation is ${isolation}`, async () => {
    await setDefault(`default_transaction_isolation = '${isolation}'`)
    const server = await startTestApi({ sharedWith: api })
    try {
      const orders = Array.from({ length: 20 }, () =>
        post(server, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }])),
      )
      const statuses = (await Promise.all(orders)).map(({ status }) => status)
      assert.deepEqual(new Set(statuses), new Set([201]))
    } finally {
      await server.stop()
      await setDefault('default_transaction_isolation = default')
    }
  })

test('statements are not compiled, although this is the default of PostgreSQL', async () => {
  await setDefault('jit = on')
  const server = await startTestApi({ sharedWith: api })
  try {
    assert.deepEqual(await server.db.row(sql`select current_setting('jit') as jit`), { jit: 'off' })
  } finally {
    await server.stop()
    await setDefault('jit = default')
  }
})

test('an order aborted by a deadlock is retried and placed once', async () => {
  const caller = await createShop()
  await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 1 }])
  const before = await getStock(caller)
  const countDeadlocks = async () => {
    await api.db.run(sql`select pg_stat_clear_snapshot()`)
    const row = await api.db.row<{ deadlocks: string }>(
      sql`select deadlocks from pg_stat_database where datname = current_database()`,
    )
    return Number(row?.deadlocks)
  }
  const deadlocksBefore = await countDeadlocks()
  // A session that waits longer than this checks for a deadlock and is aborted if it finds one. The other session
  // isn't.
  const other = new pg.Client(api.database.connection)
  await other.connect()
  await other.query("set deadlock_timeout = '10 min'")
  const lockStock = (skuId: string) =>
    other.query('select from stock where service_id = $1 and sku_id = $2 for update', [caller.service.id, skuId])
  try {
    await other.query('begin')
    await lockStock('id-TEE')
    const pendingOrder = post(
      caller,
      '/orders',
      buildOrder([
        { sku: 'HOOD-S', quantity: 1 },
        { sku: 'TEE', quantity: 1 },
      ]),
      withKey(),
    )
    await waitForBlockedConnections(api)
    const crossedLock = lockStock('id-HOOD-S')
    await waitUntil(
      async () => (await countDeadlocks()) > deadlocksBefore,
      'PostgreSQL ends one of the transactions',
      20_000,
    )
    await crossedLock
    await other.query('commit')
    assert.equal((await pendingOrder).status, 201, (await pendingOrder).text)
  } finally {
    await other.end()
  }
  const stockAfterwards = await getStock(caller)
  assert.deepEqual(
    ['1002 HOOD-S', '1002 TEE'].map(key => (before[key] ?? 0) - (stockAfterwards[key] ?? 0)),
    [1, 1],
  )
})
