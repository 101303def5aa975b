import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { startTestApi } from '../../support/service.ts'
import { openLines } from './lines.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())

test('consecutive bulk exports miss and repeat nothing despite late commits', async () => {
  const { db, service } = api
  const ids = Array.from({ length: 1_500 }, (_, i) => `c${i}`)
  const late: typeof db = {
    ...db,
    transaction: work =>
      db.transaction(async tx => {
        const done = await work(tx)
        await delay(Math.random() ** 3 * 300)
        return done
      }),
  }
  await upsertCustomers(
    db,
    service,
    ids.map(id => ({ id, firstname: 'At first' })),
  )
  const begun = performance.now()
  const goesOn = () => {
    const passed = performance.now() - begun
    return passed < 4_000 || (passed < 60_000 && lists <= 3)
  }
  const writer = async (number: number) => {
    for (let round = 0; goesOn(); round++) {
      const some = ids.filter(() => Math.random() < 0.02)
      await upsertCustomers(
        late,
        service,
        some.map(id => ({ id, firstname: `Ann ${number} ${round}` })),
      )
    }
  }
  const copy = new Map<string, string>()
  let lists = 0
  const reader = async () => {
    for (let asOf: string | undefined, last = false; !last; lists++) {
      last = over
      const path = asOf === undefined ? '/customers/search' : `/customers/search?updated_after=${asOf}`
      const bulkExport = await openLines({ at: api, caller: api, path })
      const records = await bulkExport.records()
      assert.equal(new Set(records.map(({ id }) => id)).size, records.length, 'no record comes twice')
      for (const record of records) copy.set(record.id, JSON.stringify(record))
      asOf = bulkExport.headers['x-as-of']
    }
  }
  let over = false
  const reading = reader()
  try {
    await Promise.all([1, 2, 3].map(writer))
  } finally {
    over = true
  }
  await reading
  const final = await (await openLines({ at: api, caller: api, path: '/customers/search' })).records()
  assert.deepEqual([...copy.values()].sort(), final.map(record => JSON.stringify(record)).sort())
  assert.ok(lists > 3, `${lists} lists`)
})
