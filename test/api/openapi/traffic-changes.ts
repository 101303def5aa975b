import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { openEvents } from '../../support/event-stream.ts'
import { ndjson, parseRecords, startBulkExport } from '../lists/export-stream.ts'
import type { Traffic } from './traffic.ts'

/** Tests the responses of the change feed with its streams and tombstones, and bulk exports. */
export function testChanges(traffic: () => Traffic) {
  test('changes match the document, with and without records', async () => {
    const { api, get, assertRejected } = traffic()
    const { json } = await get('/changes?limit=500&records=true')
    assert.equal(json.data.length, 500)
    const after = `/changes?kinds=store,product,inventory,staff&after_cursor=`
    await get(`/changes?limit=1000&after_cursor=${json.meta.endCursor}`)
    await assertRejected('invalid_cursor', get(after + json.meta.endCursor))
    const { endCursor } = (await get('/changes?kinds=store,product,inventory,staff&records=true')).json.meta
    await api.db.run(sql`insert into tombstone_purge select service_id, 'inventory', now() from service`)
    await assertRejected('cursor_expired', get(after + endCursor))
    await api.db.run(sql`delete from tombstone_purge`)
    assert.equal((await get(`/products?updated_after=2024-05-10&removed=true&limit=5`)).json.data.length, 5)
  })

  test('bulk exports and their limit match the document', async () => {
    const { api, get, checkResponse, assertRejected } = traffic()
    const headers = { accept: ndjson }
    const toRequest = (path: string) => ({ at: api, caller: api, path })
    for (const path of ['/stores', '/products', '/customers/search', '/changes?records=true&kinds=store,staff']) {
      const bulkExport = await startBulkExport(toRequest(path))
      const body = await text(bulkExport.body)
      const response = { status: bulkExport.status, headers: bulkExport.headers, text: body, json: undefined }
      await checkResponse('GET', path, Promise.resolve(response))
      const page = await get(path)
      assert.deepEqual(parseRecords(body).slice(0, 100), page.json.data.slice(0, 100))
    }
    await assertRejected('invalid_parameter', get('/stores?limit=5', headers))
    const bulkExports = await Promise.all(
      Array.from({ length: 4 }, () => startBulkExport(toRequest('/orders/transactions/search'))),
    )
    await assertRejected('too_many_exports', get('/stores', headers))
    for (const bulkExport of bulkExports) bulkExport.close()
  })

  test('streams and their limit match the document', async () => {
    const { api, get, assertRejected, checkResponse } = traffic()
    const streamRequest = {
      at: api,
      caller: api,
      path: `/changes/stream?after_cursor=${(await get('/changes?limit=1')).json.meta.endCursor}`,
    }
    const streams = await Promise.all(Array.from({ length: 10 }, () => openEvents(streamRequest)))
    await assertRejected('too_many_streams', get('/changes/stream'))
    const [stream] = streams
    await stream?.next()
    for (const openStream of streams) openStream.close()
    const { status = 0, headers, text: received = '' } = stream ?? {}
    await checkResponse('GET', '/changes/stream', Promise.resolve({ status, headers, text: received, json: undefined }))
  })
}
