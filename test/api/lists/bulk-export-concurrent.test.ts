import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { withSlowCommits } from '../../support/postgres/slow-commits.ts'
import { startTestApi } from '../../support/service.ts'
import { startBulkExport } from './export-stream.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())

test('consecutive bulk exports miss and repeat nothing despite late commits', async () => {
  const { db, service } = api
  const ids = Array.from({ length: 1_500 }, (_, i) => `c${i}`)
  const slowDb = withSlowCommits(db, 300)
  await upsertCustomers(
    db,
    service,
    ids.map(id => ({ id, firstname: 'At first' })),
  )
  const startedAt = performance.now()
  const shouldContinue = () => {
    const elapsedMs = performance.now() - startedAt
    return elapsedMs < 4_000 || (elapsedMs < 60_000 && exportCount <= 3)
  }
  const writer = async (number: number) => {
    for (let round = 0; shouldContinue(); round++) {
      const changedIds = ids.filter(() => Math.random() < 0.02)
      await upsertCustomers(
        slowDb,
        service,
        changedIds.map(id => ({ id, firstname: `Ann ${number} ${round}` })),
      )
    }
  }
  const copy = new Map<string, string>()
  let exportCount = 0
  const reader = async () => {
    for (let asOf: string | undefined, last = false; !last; exportCount++) {
      last = isDone
      const path = asOf === undefined ? '/customers/search' : `/customers/search?updated_after=${asOf}`
      const bulkExport = await startBulkExport({ at: api, caller: api, path })
      const records = await bulkExport.readRecords()
      assert.equal(new Set(records.map(({ id }) => id)).size, records.length, 'a record is repeated')
      for (const record of records) copy.set(record.id, JSON.stringify(record))
      asOf = bulkExport.headers['x-as-of']
    }
  }
  let isDone = false
  const reading = reader()
  try {
    await Promise.all([1, 2, 3].map(writer))
  } finally {
    isDone = true
  }
  await reading
  const final = await (await startBulkExport({ at: api, caller: api, path: '/customers/search' })).readRecords()
  assert.deepEqual([...copy.values()].sort(), final.map(record => JSON.stringify(record)).sort())
  assert.ok(exportCount > 3, `${exportCount} exports`)
})
