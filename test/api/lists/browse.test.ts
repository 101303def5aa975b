import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { browsedLists } from '../../../src/domain/browse.ts'
import { tables } from '../../../src/store/browse/tables.ts'
import { createSampleData } from '../../support/console/sample-data.ts'
import { cloneSmallDemoDatabase } from '../../support/demo/demo-database.ts'
import { startTestApi } from '../../support/service.ts'
import { startReceiver } from '../../support/webhooks/receiver.ts'

const environment = { WEBHOOK_NETWORKS: '127.0.0.0/8' }
const api = await startTestApi({ database: await cloneSmallDemoDatabase(), environment })
const receiver = await startReceiver()
await createSampleData(api, receiver)
after(async () => {
  await api.stop()
  await receiver.close()
})

type Row = Record<string, string | number | boolean | null>
async function read(query: string, caller = api): Promise<{ total: number; rows: Row[] }> {
  const { status, json, text } = await caller.get(`/browse?${query}`)
  assert.equal(status, 200, text)
  return json.data
}

for (const list of browsedLists)
  test(`${list} are sorted, filtered, counted and read from any offset`, async () => {
    const all = await read(`table=${list}&limit=250`)
    assert.ok(all.total > 0, `${list}: ${all.total}`)
    assert.equal(all.rows.length, Math.min(250, all.total))
    const [sort] = Object.keys(tables[list].sorts)
    for (const column of Object.keys(tables[list].sorts)) {
      const [up, down] = [await read(`table=${list}&sort=${column}`), await read(`table=${list}&sort=-${column}`)]
      assert.equal(up.total, down.total)
    }
    const second = await read(`table=${list}&sort=${sort}&limit=1&offset=1`)
    assert.deepEqual(second.rows, (await read(`table=${list}&sort=${sort}&limit=2`)).rows.slice(1))
    for (const filter of Object.keys(tables[list].filters))
      assert.ok((await read(`table=${list}&filter=${filter}`)).total <= all.total)
    const [first] = all.rows
    const text = String(first?.number ?? first?.code ?? first?.sku ?? first?.name ?? '')
    if (!text) return
    const matches = await read(`table=${list}&q=${encodeURIComponent(text)}`)
    assert.ok(
      matches.rows.some(({ id }) => id === first?.id),
      `${list}: ${text}`,
    )
    assert.equal((await read(`table=${list}&q=nothing-like-this`)).total, 0)
  })

test('filters select by state, and another service sees nothing', async () => {
  const { rows } = await read('table=orders&filter=shipped')
  assert.deepEqual([...new Set(rows.map(({ status }) => status))], ['shipped'])
  const { rows: low } = await read('table=stock&filter=none&sort=-onHand')
  for (const { available } of low) assert.equal(available, 0)
  const other = await api.createService()
  for (const list of browsedLists) {
    const { json } = await other.get(`/browse?table=${list}`)
    assert.deepEqual([json.data.total, json.data.rows], [0, []])
  }
})

test('orders and sales are limited to a period', async () => {
  for (const [list, time] of [
    ['orders', 'placedAt'],
    ['sales', 'saleDate'],
  ] as const) {
    const { rows, total } = await read(`table=${list}&limit=250&sort=-${time}`)
    const times = rows.map(row => String(row[time]))
    const middleTime = times[Math.floor(times.length / 2)] ?? ''
    const from = encodeURIComponent(`${middleTime}:00`)
    const [later, earlier] = [await read(`table=${list}&from=${from}`), await read(`table=${list}&until=${from}`)]
    assert.equal(later.total + earlier.total, total)
    assert.ok(
      later.rows.every(row => String(row[time]) >= middleTime),
      middleTime,
    )
    assert.ok(
      earlier.rows.every(row => String(row[time]) < middleTime),
      middleTime,
    )
  }
})

test('unknown columns and states are rejected, and vouchers need an admin', async () => {
  const { json } = await api.get('/browse?table=orders&sort=shoe&filter=red')
  assert.deepEqual(
    json.errors.map(({ detail }: { detail: string }) => detail),
    [
      '`filter` must be one of today, processing, shipped, returned, cancelled, pickup.',
      '`sort` must be one of number, placedAt, total.',
    ],
  )
  const { json: stores } = await api.get('/browse?table=stores&from=2026-01-01&until=2026-02-01')
  assert.deepEqual(
    stores.errors.map(({ detail }: { detail: string }) => detail),
    [
      '`from` can be used only with the table `orders` or `sales`.',
      '`until` can be used only with the table `orders` or `sales`.',
    ],
  )
  assert.equal((await api.get('/browse')).json.code, 'invalid_parameter')
  const visitor = await api.createAccount('visitor')
  assert.equal((await visitor.get('/browse?table=vouchers')).json.code, 'insufficient_role')
  assert.equal((await visitor.get('/browse?table=orders')).status, 200)
})
