import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cloneDemoDatabase } from '../../support/demo/demo-database.ts'
import { paginate } from '../../support/paginate.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi({ database: await cloneDemoDatabase() })
after(() => api.stop())

const lists = ['/customers/search', '/products', '/inventory?store_number=001', '/orders/transactions/search']
const addUpdatedAfter = (list: string, day: string) =>
  `${list}${list.includes('?') ? '&' : '?'}updated_after=2026-${day}`

for (const list of lists)
  test(`\`updated_after\` finds a part of the changes of several years in ${list}`, async () => {
    const { records, asOf } = await paginate(api, list)
    const days = new Set(
      records.map(record => (record as unknown as { updateTimeStamp: string }).updateTimeStamp.slice(0, 10)),
    )
    assert.ok(days.size > Math.min(300, records.length / 3), `${days.size} days`)
    assert.ok([...days].every(day => day >= '2023-11-01' && day <= '2026-10-31'))
    assert.ok(asOf < '2026-11-01')
    const [year, month, week] = await Promise.all(
      ['01-01', '10-01', '10-25'].map(async day => (await paginate(api, addUpdatedAfter(list, day))).ids.length),
    )
    assert.ok(week && month && year, 'a filter finds nothing')
    assert.ok(week < month && month < year && year < records.length, `${week} ${month} ${year} ${records.length}`)
  })

test('stores and staff have change timestamps before the reference day', async () => {
  for (const list of ['/staff', '/stores']) {
    const { asOf } = (await api.get(list)).json.meta
    assert.ok(asOf > '2026-01-01' && asOf < '2026-11-01', asOf)
  }
})
