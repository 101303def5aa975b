import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { analyzeGrownTables } from '../../src/store/lists/statistics.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { createTestDatabase } from '../support/database.ts'
import { buildCustomers } from '../support/paginate.ts'
import { withCommitStep } from '../support/postgres/slow-commits.ts'

const database = await createTestDatabase()
after(() => database.drop())
const { db } = database

test('a table analysed before its rows were committed is analysed again', async () => {
  const service = await addService(db, 'shop')
  assert.ok(service)
  const readRowEstimate = async () =>
    (await db.row<{ rows: number }>(sql`select reltuples::float8 as rows from pg_class where relname = 'customer'`))
      ?.rows
  const analyzingDatabase = withCommitStep(db, async () => {
    await analyzeGrownTables(db)
    assert.equal(await readRowEstimate(), 0)
  })
  await upsertCustomers(analyzingDatabase, service, buildCustomers(1, 200))
  await analyzeGrownTables(db)
  assert.equal(await readRowEstimate(), 200)
})
