import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { upsertProducts } from '../../../src/store/catalog/products.ts'
import { beginChange } from '../../../src/store/lists/change-timestamp.ts'
import { removeRecords } from '../../../src/store/lists/tombstones.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())
const { db } = api

const importProducts = ({ service }: Caller, ...ids: string[]) =>
  upsertProducts(
    db,
    service,
    ids.map(id => ({
      product: { productId: id, productCode: `code-${id}`, name: `Hat ${Math.random()}` },
      colour: { productId: id, colourId: 'c' },
      variant: { productId: id, colourId: 'c', skuId: `k-${id}`, sizeCode: 'M', price: '10.00' },
    })),
  )
const deleteProducts = ({ service }: Caller, ...ids: string[]) =>
  db.transaction(async tx => {
    const change = await beginChange(tx, service, ['product'])
    const where = sql`product_id = any(${ids})`
    await removeRecords(tx, service, change, { list: 'product', id: sql`product_id`, where })
  })
const list = async (caller: Caller, query: string) => (await caller.get(`/products?${query}`)).json
const getIds = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)

test('a removed product is listed in change order only with `removed=true`', async () => {
  const caller = await api.createService()
  await importProducts(caller, 'a', 'b', 'c')
  const { asOf } = (await list(caller, 'updated_after=2020-01-01&removed=true')).meta
  await deleteProducts(caller, 'a')
  await importProducts(caller, 'd')
  await deleteProducts(caller, 'b', 'c')
  await importProducts(caller, 'c')
  await deleteProducts(caller, 'd')
  const since = `updated_after=${asOf}`
  const { data, meta } = await list(caller, `${since}&removed=true`)
  assert.deepEqual(getIds({ data }), ['a', 'b', 'c', 'd'])
  assert.deepEqual(
    data.map(({ removed = false }) => removed),
    [true, true, false, true],
  )
  assert.deepEqual(Object.keys(data[0]), ['id', 'removed', 'updateTimeStamp'])
  assert.match(data[0].updateTimeStamp, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  assert.equal(meta.warnings, undefined)
  assert.deepEqual(getIds(await list(caller, since)), ['c'])
  assert.deepEqual(await list(caller, `updated_after=${meta.asOf}&removed=true`).then(getIds), [], 'the next poll')
})

test('tombstones are paginated and belong to one service', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  for (const shop of [caller, other]) await importProducts(shop, 'a', 'b', 'c')
  const query = 'updated_after=2020-01-01&removed=true&limit=1'
  await deleteProducts(caller, 'a', 'c')
  await importProducts(caller, 'd')
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const { data, meta } = await list(caller, query + cursor)
    ids.push(...getIds({ data }))
    if (!meta.hasNextPage) break
    cursor = `&after_cursor=${meta.endCursor}`
  }
  assert.deepEqual(ids, ['b', 'a', 'c', 'd'])
  assert.deepEqual(getIds(await list(other, 'updated_after=2020-01-01&removed=true')), ['a', 'b', 'c'])
})

test('`removed` requires `updated_after` and warns about possibly purged tombstones', async () => {
  for (const query of ['removed=true', 'removed=true&updated_after=2025-12-31&code=a'])
    assertProblem(await api.get(`/products?${query}`), 'invalid_parameter', api.baseUrl, '/products')
  const caller = await api.createService()
  await db.run(sql`insert into tombstone_purge values (${caller.service.id}, 'product', '2026-01-01T00:00:00Z')`)
  const [{ code }] = (await list(caller, 'updated_after=2025-12-31&removed=true')).meta.warnings
  assert.equal(code, 'removals_forgotten')
  assert.equal((await list(caller, 'updated_after=2026-01-02&removed=true')).meta.warnings, undefined)
})
