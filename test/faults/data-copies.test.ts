import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { embeddedInvariants, orderInvariants } from '../../scenarios/support/checks/ledgers.ts'
import { haltPostgresWhile } from '../../scenarios/support/halt.ts'
import { type Database, type Db, openDatabase, sql } from '../../src/database/db.ts'
import { startPostgres } from '../../src/postgres/postgres.ts'
import { upsertStock } from '../../src/store/inventory/stock.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { buildOrder, createReturn, fillShop, getCreatedRecord } from '../support/order-shop.ts'
import { createDirectory, runSuccessfully, waitUntil } from '../support/processes.ts'
import { buildCredentials, startSecondServer } from '../support/servers.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { issueVoucher, stockGiftCards, voucherSettings } from '../support/voucher-shop.ts'
import { post, withKey } from '../support/write.ts'
import { createTestDirectory, type SeparateDatabase, startSeparateDatabase } from './own-postgres.ts'

// Copies an installation while shoppers order, return items and pay with vouchers.

const home = createTestDirectory('copies')
let database: SeparateDatabase
let api: TestApi
before(async () => {
  database = await startSeparateDatabase(join(home, 'original'))
  api = await startTestApi({ database, settings: voucherSettings, role: 'maintainer' })
  await fillShop(api.db, api.service)
  await stockGiftCards(api, api)
  await upsertStock(api.db, api.service, [{ storeId: '1002', skuId: 'id-TEE', freeStock: 100_000 }])
})
after(async () => {
  await api.stop()
  rmSync(home, { recursive: true, force: true })
})

/** The paths of acknowledged orders and returns. */
const acknowledgedPaths: string[] = []

/** Repeatedly buys a voucher, pays an order with it and returns the order, until `isOver` returns true. */
async function simulateShopper(isOver: () => boolean) {
  while (!isOver()) {
    const voucher = getCreatedRecord(await issueVoucher(api, { amount: '10.00' }, withKey()))
    const { number, pin } = voucher
    const { json } = await post(api, '/vouchers/validate', { number, pin, amount: '5.00' })
    const redemption = { number, validationId: json.data.validationId }
    const payments = [
      { gateway: 'paypal', amount: '5.00', voucher: redemption },
      { gateway: 'visa', amount: '5.00' },
    ]
    const order = getCreatedRecord(
      await post(api, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }], { payments }), withKey()),
    )
    acknowledgedPaths.push(`/orders/${order.id}`)
    const response = await createReturn(api, order.id, { TEE: 1 }, {}, withKey())
    if (response.status === 201) acknowledgedPaths.push(`/returns/${response.json.data.id}`)
  }
}

/** Runs `work` while three shoppers shop. */
async function whileShopping<T>(work: () => Promise<T>): Promise<T> {
  let isOver = false
  const shopping = Promise.all(Array.from({ length: 3 }, () => simulateShopper(() => isOver)))
  const minCount = acknowledgedPaths.length + 12
  await Promise.race([
    shopping,
    waitUntil(() => acknowledgedPaths.length > minCount, 'the shoppers have bought something', 60_000),
  ])
  try {
    return await work()
  } finally {
    isOver = true
    await shopping
  }
}

/** Returns the invariants of orders and vouchers that the data violates. */
const findViolations = async (db: Db) => {
  const invariants = Object.entries({ ...orderInvariants(api.service.id), ...embeddedInvariants(api.service.id) })
  const results = await Promise.all(invariants.map(async ([fact, query]) => ({ fact, rows: await db.rows(query) })))
  return results.filter(({ rows }) => rows.length)
}

/** Serves a copy and asserts that it has every acknowledged write from before it was started, and no partial write. */
async function assertComplete(db: Database, acknowledgedBefore: readonly string[]) {
  const server = await startSecondServer({ db, keys: api.keys })
  try {
    const headers = buildCredentials(api)
    assert.ok(acknowledgedBefore.length > 10)
    for (const path of acknowledgedBefore) assert.equal((await server.sendRequest(path, { headers })).status, 200, path)
    assert.deepEqual(await findViolations(db), [])
    const ordersWithoutAudit = sql`
      select id as key from sales_order o where service_id = ${api.service.id}
         and not exists (select from audit a where a.service_id = o.service_id and position('/orders/' || o.id || '"' in a.record) > 0)`
    assert.deepEqual(await db.rows(ordersWithoutAudit), [], 'each order must have an audit entry')
    const [first = ''] = acknowledgedBefore
    const order = await server.sendRequest(first, { headers })
    assert.deepEqual(order.json.data, (await api.get(first)).json.data)
  } finally {
    await server.stop()
  }
}

test('a copied data directory starts with all acknowledged writes', async () => {
  const copy = join(home, 'copy')
  const pathsBefore = await whileShopping(() =>
    // Halts PostgreSQL, so that the copy is like a snapshot of the file system.
    haltPostgresWhile(database.postgres.pid, async () => {
      const acknowledgedBefore = [...acknowledgedPaths]
      assert.equal(spawnSync('cp', ['-a', database.directory, copy]).status, 0)
      return acknowledgedBefore
    }),
  )
  const postgres = await startPostgres(copy, { settings: { fsync: 'off' } })
  after(() => postgres.stop())
  const db = openDatabase(postgres.connection, { max: 5, onFault: () => {} })
  after(() => db.close())
  await assertComplete(db, pathsBefore)
})

test('a backup during sales restores all acknowledged writes and correct ledgers', async () => {
  const target = await createEmptyDatabase()
  after(() => target.drop())
  const file = join(home, 'backup')
  const environment = { SECRET_KEY: api.secret, DATA_DIR: createDirectory() }
  await api.db.run(sql`insert into installation (secret_digest) values (${api.keys.digest}) on conflict do nothing`)
  const pathsBefore = await whileShopping(async () => {
    const acknowledgedBefore = [...acknowledgedPaths]
    await runSuccessfully(['backup', file], { ...environment, DATABASE_URL: database.connection })
    return acknowledgedBefore
  })
  await runSuccessfully(['restore', file], { ...environment, DATABASE_URL: target.connection })
  await assertComplete(target.db, pathsBefore)
})
