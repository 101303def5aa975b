import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { upsertStores } from '../../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { createUnmappedShop } from '../../support/mapping-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'
import { put } from '../../support/write.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.stop())

const keys = { stores: 'storeId', skus: 'skuId', customers: 'customerId' } as const
type Kind = keyof typeof keys

/** Returns the identifiers of a complete list, page by page. `between` runs after each page except the last. */
async function listIds(caller: Caller, kind: Kind, query: string, between?: () => Promise<unknown>) {
  const ids: string[] = []
  let cursor = ''
  for (;;) {
    const { status, json, text } = await caller.get(`/mappings/${kind}?${query}${cursor && `&after_cursor=${cursor}`}`)
    assert.equal(status, 200, text)
    ids.push(...json.data.map((record: Record<string, string>) => record[keys[kind]]))
    if (!json.meta.hasNextPage) return ids
    cursor = json.meta.endCursor
    await between?.()
  }
}

const mappings: Record<Kind, [change: object, ids: string[]]> = {
  stores: [{ ecommerceLocationId: '6884556842' }, ['1001', '1002']],
  skus: [{ ecommerceSku: 'MH01-M-Black' }, ['12001', '12002', '12003']],
  customers: [{ ecommerceLegacyId: '6477890125896' }, ['65432', '65433']],
}

for (const [kind, [change, ids]] of Object.entries(mappings) as [Kind, (typeof mappings)[Kind]][])
  test(`each of the ${kind} is listed in exactly one of two states`, async () => {
    const caller = await createUnmappedShop(api)
    const [, second = ''] = ids
    assert.deepEqual(await listIds(caller, kind, 'state=unmapped&limit=1'), ids)
    assert.deepEqual(await listIds(caller, kind, 'state=mapped'), [])
    const mapped = await put(caller, `/mappings/${kind}/${second}`, change)
    assert.equal(mapped.status, 200, mapped.text)
    assert.deepEqual(await listIds(caller, kind, 'limit=1'), ids)
    assert.deepEqual(await listIds(caller, kind, 'state=mapped'), [second])
    assert.deepEqual(
      await listIds(caller, kind, 'state=unmapped&limit=1'),
      ids.filter(id => id !== second),
    )
    const { data } = (await caller.get(`/mappings/${kind}?state=mapped`)).json
    assert.deepEqual(data, [mapped.json.data], 'the list and the record must be equal')
    const emptyMapping = Object.fromEntries(Object.keys(change).map(name => [name, null]))
    assert.equal((await put(caller, `/mappings/${kind}/${second}`, emptyMapping)).status, 200)
    assert.deepEqual(await listIds(caller, kind, 'state=mapped'), [])
  })

test('either form of the identifier makes a customer mapped', async () => {
  const caller = await createUnmappedShop(api)
  await put(caller, '/mappings/customers/65432', { ecommerceAdminId: 'gid://shop/Customer/1' })
  await put(caller, '/mappings/customers/65433', { ecommerceLegacyId: '2' })
  assert.deepEqual(await listIds(caller, 'customers', 'state=mapped'), ['65432', '65433'])
  assert.deepEqual(await listIds(caller, 'customers', 'state=unmapped'), [])
})

test("a colour's product does not make its SKUs mapped", async () => {
  const caller = await createUnmappedShop(api)
  await put(caller, '/mappings/skus/12001', { ecommerceProductId: '1' })
  assert.deepEqual(await listIds(caller, 'skus', 'state=mapped'), [])
})

test('mapping records during pagination shows each record once', async () => {
  const caller = await createUnmappedShop(api)
  const ids = Array.from({ length: 25 }, (_, i) => String(70_000 + i))
  await upsertCustomers(
    api.db,
    caller.service,
    ids.map(id => ({ id, firstname: 'Ann' })),
  )
  const all = ['65432', '65433', ...ids]
  let mapped = 0
  const unmapped = await listIds(caller, 'customers', 'state=unmapped&limit=4', async () => {
    const pageIds = all.slice(mapped, mapped + 4)
    mapped += pageIds.length
    for (const id of pageIds)
      assert.equal((await put(caller, `/mappings/customers/${id}`, { ecommerceLegacyId: id })).status, 200)
  })
  assert.deepEqual(unmapped, all)
  assert.deepEqual(await listIds(caller, 'customers', 'state=mapped&limit=7'), all.slice(0, mapped))
})

test('a cursor belongs to its service, list and mapping state', async () => {
  const [caller, other] = [await createUnmappedShop(api), await createUnmappedShop(api)]
  const { endCursor } = (await caller.get('/mappings/stores?state=unmapped&limit=1')).json.meta
  const assertCursorRejected = async (reader: Caller, path: string) =>
    assertProblem(await reader.get(`${path}after_cursor=${endCursor}`), 'invalid_cursor', api.baseUrl)
  await assertCursorRejected(other, '/mappings/stores?state=unmapped&')
  await assertCursorRejected(caller, '/mappings/stores?state=mapped&')
  await assertCursorRejected(caller, '/mappings/stores?')
  await assertCursorRejected(caller, '/mappings/skus?state=unmapped&')
  for (const query of [
    'state=other',
    'state=',
    'state=mapped&state=unmapped',
    'mapped=true',
    'updated_after=2024-01-01',
  ])
    assertProblem(await caller.get(`/mappings/customers?${query}`), 'invalid_parameter', api.baseUrl)
})

test('a mapping page shows committed data even while watermarks are held back', async () => {
  const caller = await createUnmappedShop(api)
  const holder = await api.db.pool.connect()
  try {
    await holder.query('begin')
    await holder.query('select next_change_timestamp($1, null)', [caller.service.id])
    await upsertStores(api.db, caller.service, [{ storeId: '1001', ecommerceLocationId: 'one' }])
    assert.deepEqual(await listIds(caller, 'stores', 'state=mapped'), ['1001'])
  } finally {
    holder.release(true)
  }
})
