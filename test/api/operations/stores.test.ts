import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fillShop } from '../../support/order-shop.ts'
import { assertProblem, getFieldErrors } from '../../support/problem.ts'
import { startTestService } from '../../support/service.ts'
import { put } from '../../support/write.ts'

const service = await startTestService()
after(() => service.stop())
await fillShop(service.db, service.service)

const stockOf = async (storeNumber: string) => {
  const { data } = (await service.get(`/inventory?store_number=${storeNumber}&sku=HOOD-S`)).json
  const { freeStock, buffer, sellable } = data[0]
  return { freeStock, buffer, sellable }
}

test("a store's buffer is set over the API and changes its stock", async () => {
  const { endCursor } = (await service.get('/changes')).json.meta
  const response = await put(service, '/stores/101', { inventoryBuffer: 3 })
  assert.equal(response.status, 200, response.text)
  assert.equal(response.json.data.inventoryBuffer, 3)
  const read = await service.get('/stores/101')
  assert.deepEqual([read.text, read.headers.etag], [response.text, response.headers.etag])
  assert.deepEqual(await stockOf('101'), { freeStock: 10, buffer: 3, sellable: 7 })
  assert.deepEqual(await stockOf('102'), { freeStock: 30, buffer: 0, sellable: 30 })
  const { data } = (await service.get(`/changes?after_cursor=${endCursor}`)).json
  assert.deepEqual(data.map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`).sort(), [
    'inventory 1001-HOOD-M',
    'inventory 1001-HOOD-S',
    'store 1001',
  ])
  assert.equal((await put(service, '/stores/101', { inventoryBuffer: null })).json.data.inventoryBuffer, null)
  assert.deepEqual(await stockOf('101'), { freeStock: 10, buffer: 0, sellable: 10 })
})

test('an invalid buffer or an unknown store is rejected', async () => {
  for (const inventoryBuffer of [-1, 1_000_001])
    assert.deepEqual(getFieldErrors(await put(service, '/stores/101', { inventoryBuffer })), [
      '/inventoryBuffer invalid_field',
    ])
  for (const body of [{ inventoryBuffer: '3' }, { inventoryBuffer: 1.5 }, {}, { inventoryBuffer: 1, name: 'X' }])
    assertProblem(await put(service, '/stores/101', body), 'invalid_body', service.baseUrl, '/stores/101')
  assertProblem(await put(service, '/stores/999', { inventoryBuffer: 1 }), 'not_found', service.baseUrl)
})

test('a buffer change needs an admin and honours If-Match', async () => {
  const maintainer = await service.createAccount('maintainer')
  assertProblem(await put(maintainer, '/stores/101', { inventoryBuffer: 1 }), 'insufficient_role', service.baseUrl)
  const { etag } = (await service.get('/stores/101')).headers
  assert.equal((await put(service, '/stores/101', { inventoryBuffer: 5 }, { 'if-match': etag })).status, 200)
  const stale = await put(service, '/stores/101', { inventoryBuffer: 6 }, { 'if-match': etag })
  assertProblem(stale, 'precondition_failed', service.baseUrl, '/stores/101')
})
