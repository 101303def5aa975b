import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { addCustomerContract } from '../drivers/customers.ts'
import { addReadContract } from '../drivers/reads.ts'
import { addReturnContract } from '../drivers/returns.ts'
import { addSaleContract } from '../drivers/sales.ts'
import { drivers, type Shop } from '../drivers/shop.ts'
import { addVoucherContract } from '../drivers/vouchers.ts'
import { createTestDatabase } from '../support/database.ts'
import { type ColumnTypes, findDifferences, readColumnTypes } from './row-types/compare.ts'
import { type DeclaredCall, listDeclaredCalls } from './row-types/declared.ts'
import { tourChangedKeys } from './row-types/moving.ts'
import { describeColumns, recordRows } from './row-types/recorder.ts'
import { tourReplicas } from './row-types/replicas.ts'
import { runTour } from './row-types/tour.ts'

// `rows<T>` doesn't check the declared type of a row. These tests read the declared type of each call in `src` from the
// compiler. The driver contracts and a tour of all other code make each call. Names, types and nulls of the rows that
// `pg` returns must match the declared types.

const recorded = recordRows()

/** SQL for the body of a stored record: without change timestamp and closing brace. */
const recordBody = `left(record, -length(',"updateTimeStamp":"YYYY-MM-DD HH:MM:SS"}'))`
const storedBodies = {
  product: recordBody,
  stock: recordBody,
  retail_transaction: recordBody,
  customer: `left(record, -length(',"updateTimeStamp":"YYYY-MM-DD HH:MM:SS"'))`,
}
let types: ColumnTypes

for (const { name: driverName, open } of drivers.filter(
  driver => driver.name === 'embedded' || driver.name === 'apparel21 2025.1',
))
  suite(driverName, () => {
    let shop: Shop
    before(async () => {
      shop = await open()
      types = await readColumnTypes(shop.api.db)
    })
    after(() => shop.stop())
    addReadContract(() => shop)
    addCustomerContract(() => shop)
    addVoucherContract(() => shop)
    addSaleContract(() => shop)
    addReturnContract(() => shop)
    if (driverName === 'embedded')
      test('other readable data is read', async () => {
        await runTour(shop.api)
        await tourReplicas(shop.api)
        await tourChangedKeys()
      })

    // `withoutClosingBrace` removes all braces at the end of a body.
    for (const [table, stored] of Object.entries(storedBodies))
      test(`a ${table} body never ends with a brace`, async () => {
        const { rows } = await shop.api.db.pool.query<{ records: number; ending: number }>(
          `select count(*)::integer as records, (count(*) filter (where ${stored} like '%}'))::integer as ending from ${table}`,
        )
        assert.equal(rows[0]?.ending, 0)
        assert.ok(rows[0]?.records, 'there are records')
      })
  })

suite('rows', () => {
  let declared: DeclaredCall[]
  before(() => {
    declared = listDeclaredCalls()
  })

  test('every call that reads rows is executed', () => {
    assert.ok(declared.length > 100, 'calls are found')
    const created = new Set(recorded.map(({ at }) => at))
    const unobserved = declared.filter(({ at }) => !created.has(at))
    assert.deepEqual(unobserved, [])
  })

  test('rows have their declared types', () => {
    const calls = new Map(declared.map(call => [call.at, call]))
    const wrong = recorded.flatMap(statement => {
      const call = calls.get(statement.at)
      return call ? findDifferences(types, call, statement) : []
    })
    assert.deepEqual([...new Set(wrong)], [])
  })

  test('the check finds missing, surplus, mistyped and null columns', async () => {
    const { db, drop } = await createTestDatabase()
    const { fields, rows } = await db.pool
      .query('select 1 as id, null as code, 2::bigint as sum, now() as at')
      .finally(drop)
    const field = (type: string) => ({ type, nullable: false })
    const declaredFields = { id: field('number'), code: field('string'), sum: field('number'), name: field('string') }
    assert.deepEqual(
      findDifferences(types, { at: 'here', fields: declaredFields }, describeColumns({ fields, rows })),
      [
        'here code is null',
        'here sum is declared number, but is string',
        'here name is missing',
        'here at is not declared',
      ],
    )
  })
})
