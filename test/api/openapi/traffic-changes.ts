import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { openEvents } from '../../support/event-stream.ts'
import { ndjson, parseRecords, startBulkExport } from '../lists/export-stream.ts'
import type { Traffic } from './answers.ts'

/** Changes: pages, streams, and what has left; lists as a whole. */
export function testChanges(traffic: () => Traffic) {
  test('changes match the document, with and without records', async () => {
    const { api, get, rejected } = traffic()
    const { json } = await get('/changes?limit=500&records=true')
    assert.equal(json.data.length, 500)
    const after = `/changes?kinds=store,product,inventory,staff&after_cursor=`
    await get(`/changes?limit=1000&after_cursor=${json.meta.endCursor}`)
    await rejected('invalid_cursor', get(after + json.meta.endCursor))
    const { endCursor } = (await get('/changes?kinds=store,product,inventory,staff&records=true')).json.meta
    await api.db.run(sql`insert into tombstone_purge select service_id, 'inventory', now() from service`)
    await rejected('cursor_expired', get(after + endCursor))
    await api.db.run(sql`delete from tombstone_purge`)
    assert.equal((await get(`/products?updated_after=2024-05-10&removed=true&limit=5`)).json.data.length, 5)
  })

  test('bulk exports and their limit match the document', async () => {
    const { api, get, requested, rejected } = traffic()
    const lines = { accept: ndjson }
    const of = (path: string) => ({ at: api, caller: api, path })
    for (const path of ['/stores', '/products', '/customers/search', '/changes?records=true&kinds=store,staff']) {
      const bulkExport = await startBulkExport(of(path))
      const body = await text(bulkExport.body)
      const response = { status: bulkExport.status, headers: bulkExport.headers, text: body, json: undefined }
      await requested('GET', path, Promise.resolve(response))
      const page = await get(path)
      assert.deepEqual(parseRecords(body).slice(0, 100), page.json.data.slice(0, 100))
    }
    await rejected('invalid_parameter', get('/stores?limit=5', lines))
    const open = await Promise.all(Array.from({ length: 4 }, () => startBulkExport(of('/orders/transactions/search'))))
    await rejected('too_many_exports', get('/stores', lines))
    for (const stream of open) stream.close()
  })

  test('streams and their limit match the document', async () => {
    const { api, get, rejected, requested } = traffic()
    const of = {
      at: api,
      caller: api,
      path: `/changes/stream?after_cursor=${(await get('/changes?limit=1')).json.meta.endCursor}`,
    }
    const streams = await Promise.all(Array.from({ length: 10 }, () => openEvents(of)))
    await rejected('too_many_streams', get('/changes/stream'))
    const [stream] = streams
    await stream?.next()
    for (const openStream of streams) openStream.close()
    const { status = 0, headers, text: received = '' } = stream ?? {}
    await requested('GET', '/changes/stream', Promise.resolve({ status, headers, text: received, json: undefined }))
  })
}
