import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addLogEntries, daysAgo } from '../../support/postgres/log-entries.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())

const getIds = (lines: { id: string }[]) => lines.map(({ id }) => id)

test('log entries are in time order across processes, however many per second', async () => {
  const second = Math.floor(daysAgo(1) / 1_000) * 1_000
  const created = Array.from({ length: 1_200 }, (_, i) => ({
    at: second + i * 2,
    requestId: `line-${i}`,
    path: '/tour',
  }))
  // Two processes wrote alternately, each more than one block of entries.
  for (const parity of [1, 0])
    await addLogEntries(
      api.db,
      api.service,
      created.filter((_, i) => i % 2 === parity),
    )
  const expected = created.map(({ requestId }) => requestId).reverse()
  const paginatedIds: string[] = []
  for (let query = '?path=/tour'; query; ) {
    const { json } = await api.get(`/requests${query}`)
    paginatedIds.push(...getIds(json.data))
    query = json.meta.hasNextPage ? `?path=/tour&after_cursor=${json.meta.endCursor}` : ''
  }
  assert.deepEqual(paginatedIds, expected)
  const bulkExport = await api.get('/requests?path=/tour', { accept: 'application/x-ndjson' })
  assert.deepEqual(
    bulkExport.text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).id),
    expected.toReversed(),
  )
  const instant = new Date(second + 1_000).toISOString()
  const listIds = async (query: string) => getIds((await api.get(`/requests?path=/tour&limit=3&${query}`)).json.data)
  assert.deepEqual(await listIds(`answered_before=${instant}`), ['line-499', 'line-498', 'line-497'])
  assert.deepEqual(await listIds(`answered_after=${new Date(second + 2_394).toISOString()}`), [
    'line-1199',
    'line-1198',
  ])
  assert.deepEqual(getIds((await api.get('/requests?request_id=line-777')).json.data), ['line-777'])
})
