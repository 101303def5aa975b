import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { buildOrder, startOrderShop } from '../../support/order-shop.ts'
import { waitUntil } from '../../support/processes.ts'
import type { TestResponse } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())

test('an order that waits for stock after its timestamp is still delivered', async () => {
  const caller = await createShop()
  const read = async (from: string) => {
    const { status, json, text } = await caller.get(`/changes?kinds=order&limit=1000&after_cursor=${from}`)
    assert.equal(status, 200, text)
    return { ids: json.data.map(({ id }: { id: string }) => id) as string[], cursor: json.meta.endCursor as string }
  }
  const postOrder = (orderNumber: string, sku: string) =>
    post(caller, '/orders', { ...buildOrder([{ sku, quantity: 1 }]), orderNumber })
  const firstPage = await caller.get('/changes?kinds=order&limit=1000')
  let cursor: string = firstPage.json.meta.endCursor
  let placing: Promise<TestResponse> = Promise.reject(new Error('nothing is placed yet'))
  placing.catch(() => {})
  let later = ''
  await api.db.transaction(async tx => {
    await tx.rows(sql`
      select 1 as one from stock where service_id = ${caller.service.id} and sku_id = 'id-HOOD-S' for update`)
    placing = postOrder('waits', 'HOOD-S')
    const blockedOrders = sql`
      select 1 as one from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%stock%' and pid <> pg_backend_pid()`
    await waitUntil(() => api.db.row(blockedOrders), 'the order waits for its stock')
    const { status, json, text } = await postOrder('does-not', 'TEE')
    assert.equal(status, 201, text)
    later = json.data.id
    // The later order is committed but not listed: the earlier one already has its change timestamp and would be
    // skipped.
    for (let i = 0; i < 3; i++) {
      const { ids, cursor: next } = await read(cursor)
      assert.deepEqual(ids, [])
      cursor = next
    }
  })
  const placed = await placing
  assert.equal(placed.status, 201, placed.text)
  assert.deepEqual((await read(cursor)).ids, [placed.json.data.id, later])
})
