import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fillShop } from '../../support/order-shop.ts'
import { assertProblem, getFieldErrors } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'
import { put } from '../../support/write.ts'

const api = await startTestApi()
after(() => api.stop())
await fillShop(api.db, api.service)

const getStock = async (storeNumber: string) => {
  const { data } = (await api.get(`/inventory?store_number=${storeNumber}&sku=HOOD-S`)).json
  const { freeStock, buffer, sellable } = data[0]
  return { freeStock, buffer, sellable }
}

test("a store's buffer is set over the API and changes its stock", async () => {
  const { endCursor } = (await api.get('/changes')).json.meta
  const response = await put(api, '/stores/101', { inventoryBuffer: 3 })
  assert.equal(response.status, 200, response.text)
  assert.equal(response.json.data.inventoryBuffer, 3)
  const read = await api.get('/stores/101')
  assert.deepEqual([read.text, read.headers.etag], [response.text, response.headers.etag])
  assert.deepEqual(await getStock('101'), { freeStock: 10, buffer: 3, sellable: 7 })
  assert.deepEqual(await getStock('102'), { freeStock: 30, buffer: 0, sellable: 30 })
  const { data } = (await api.get(`/changes?after_cursor=${endCursor}`)).json
  assert.deepEqual(data.map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`).sort(), [
    'inventory 1001-HOOD-M',
    'inventory 1001-HOOD-S',
    'store 1001',
  ])
  assert.equal((await put(api, '/stores/101', { inventoryBuffer: null })).json.data.inventoryBuffer, null)
  assert.deepEqual(await getStock('101'), { freeStock: 10, buffer: 0, sellable: 10 })
})

test('an invalid buffer or an unknown store is rejected', async () => {
  for (const inventoryBuffer of [-1, 1_000_001])
    assert.deepEqual(getFieldErrors(await put(api, '/stores/101', { inventoryBuffer })), [
      '/inventoryBuffer invalid_field',
    ])
  for (const body of [{ inventoryBuffer: '3' }, { inventoryBuffer: 1.5 }, {}, { inventoryBuffer: 1, name: 'X' }])
    assertProblem(await put(api, '/stores/101', body), 'invalid_body', api.baseUrl, '/stores/101')
  assertProblem(await put(api, '/stores/999', { inventoryBuffer: 1 }), 'not_found', api.baseUrl)
})

test('a buffer change needs an admin and honours If-Match', async () => {
  const maintainer = await api.createAccount('maintainer')
  assertProblem(await put(maintainer, '/stores/101', { inventoryBuffer: 1 }), 'insufficient_role', api.baseUrl)
  const { etag } = (await api.get('/stores/101')).headers
  assert.equal((await put(api, '/stores/101', { inventoryBuffer: 5 }, { 'if-match': etag })).status, 200)
  const stale = await put(api, '/stores/101', { inventoryBuffer: 6 }, { 'if-match': etag })
  assertProblem(stale, 'precondition_failed', api.baseUrl, '/stores/101')
})
