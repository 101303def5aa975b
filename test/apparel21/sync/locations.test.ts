import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSyncStats } from '../../../src/store/stats/sync-status.ts'
import { browserMissing } from '../../support/browser.ts'
import { openConsole } from '../../support/console/console.ts'
import { importAndWait } from '../../support/import-and-wait.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from '../writes/orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { stores, skus, stock } = simulator.state

const getLocationIds = (kind: 'shop' | 'warehouse' | 'web') =>
  [...stores.values()]
    .filter(store => store.kind === kind)
    .map(({ id }) => String(id))
    .sort()
const listStores = async (query = '') =>
  (await api.get(`/stores${query}`)).json.data as { storeId: string; kind: string; name: string; storeNumber: string }[]
async function listStock(storeId: string) {
  const rows = []
  for (let cursor = ''; ; ) {
    const { data, meta } = (await api.get(`/inventory?limit=100${cursor}`)).json
    rows.push(...data.filter((row: { storeId: string }) => row.storeId === storeId))
    if (!meta.hasNextPage) return rows
    cursor = `&after_cursor=${meta.endCursor}`
  }
}
const loadLastRun = async (sync = 'stock') => {
  const { db, service } = api
  const { rows } = await db.pool.query(
    'select * from sync_run where service_id = $1 and sync = $2 order by changed_at desc limit 1',
    [service.id, sync],
  )
  return rows[0]
}

test('warehouses and web stores are listed with their kind', async () => {
  const all = await listStores()
  for (const [kind, locations] of [
    ['store', 'shop'],
    ['warehouse', 'warehouse'],
    ['web', 'web'],
  ] as const)
    assert.deepEqual(
      all
        .filter(store => store.kind === kind)
        .map(({ storeId }) => storeId)
        .sort(),
      getLocationIds(locations),
      kind,
    )
  assert.deepEqual(
    (await listStores('?kind=store')).map(({ storeId }) => storeId).sort(),
    getLocationIds('shop'),
    'the filter returns shops only',
  )
  assert.equal((await api.get('/stores?kind=shop')).status, 400)
  const warehouse = all.find(({ kind }) => kind === 'warehouse')
  assert.equal(warehouse?.name, 'Distribution Centre 1')
  assert.equal((await api.get(`/stores/${warehouse?.storeNumber}`)).json.data.storeId, warehouse?.storeId)
})

test('every stock row is stored', async () => {
  const run = await loadLastRun()
  const expected = [...skus.values()].reduce(
    (rows, { row }) => rows + [...stores.values()].filter(({ column }) => stock.get(row, column) > 0).length,
    0,
  )
  const read = expected + getLocationIds('warehouse').length + getLocationIds('web').length
  assert.deepEqual([run.read, run.inserted, run.skipped, run.rejected].map(Number), [read, read, 0, 0])
})

test('a renamed warehouse or web store gets its new name', async () => {
  const [warehouse] = getLocationIds('warehouse')
  const [web] = getLocationIds('web')
  simulator.change({ kind: 'edit-store', id: Number(warehouse), fields: { name: 'Truganina DC' } })
  simulator.change({ kind: 'edit-store', id: Number(web), fields: { name: 'Online', number: '998' } })
  await shop.sync('stock')
  const all = await listStores()
  const findById = (id: string | undefined) => all.find(({ storeId }) => storeId === id)
  assert.equal(findById(warehouse)?.name, 'Truganina DC')
  assert.deepEqual([findById(web)?.name, findById(web)?.storeNumber, findById(web)?.kind], ['Online', '998', 'web'])
  assert.ok((await listStock(String(web))).every(({ storeName }: { storeName: string }) => storeName === 'Online'))
})

test('a warehouse that changed stock names becomes a location', async () => {
  const id = 9_999
  const template = [...stores.values()].find(({ kind }) => kind === 'warehouse')
  assert.ok(template)
  const sku = [...skus.values()].find(
    candidate => !candidate.colour.style.special && stock.get(candidate.row, template.column) > 0,
  )
  assert.ok(sku)
  stores.set(id, { ...template, id, name: 'Overflow', number: '' })
  try {
    simulator.change({ kind: 'set-stock', skuId: sku.id, storeId: id, quantity: 41 })
    await shop.sync('stock', { full: false })
    const location = (await listStores()).find(({ storeId }) => storeId === '9999')
    assert.deepEqual([location?.kind, location?.name], ['warehouse', 'Overflow'])
    const [row] = (await listStock('9999')).filter((item: { skuId: string }) => item.skuId === String(sku.id))
    assert.equal(row?.freeStock, 41)
  } finally {
    stores.delete(id)
  }
})

test('a store that opened today is fetched by its identifier', async () => {
  const template = [...stores.values()].find(({ kind }) => kind === 'shop')
  assert.ok(template)
  const sku = [...skus.values()].find(candidate => !candidate.colour.style.special)
  stores.set(9_998, { ...template, id: 9_998, name: 'Opened Today', number: '98', code: 'S9998' })
  try {
    simulator.change({ kind: 'set-stock', skuId: sku?.id ?? 0, storeId: 9_998, quantity: 3 })
    await shop.sync('stock', { full: false })
    const { json } = await api.get('/stores/98')
    assert.deepEqual([json.data.storeId, json.data.kind, json.data.code], ['9998', 'store', 'S9998'])
  } finally {
    stores.delete(9_998)
  }
})

test('a warehouse that only an order names becomes a location', async () => {
  const { buy, tee } = await createOrderFixture(shop)
  const [id = ''] = getLocationIds('warehouse')
  await buy([{ sku: tee.sku, quantity: 1 }])
  for (const table of ['stock', 'store']) await api.db.pool.query(`delete from ${table} where store_id = $1`, [id])
  await shop.sync('orders')
  const location = (await listStores()).find(({ storeId }) => storeId === id)
  assert.deepEqual([location?.kind, location?.name, location?.storeNumber], ['warehouse', `Location ${id}`, id])
  await shop.sync('stock')
  assert.equal(
    (await listStores()).find(({ storeId }) => storeId === id)?.name,
    'Truganina DC',
    'the stock sync stores the name',
  )
})

test('two web stores with one number are two locations', async () => {
  const template = [...stores.values()].find(({ kind }) => kind === 'web')
  assert.ok(template)
  stores.set(9_997, { ...template, id: 9_997, name: 'Second Web Store' })
  try {
    await shop.sync('stock')
    const web = await listStores('?kind=web')
    assert.equal(web.length, 2)
    assert.equal(new Set(web.map(({ storeNumber }) => storeNumber)).size, 2, JSON.stringify(web))
  } finally {
    stores.delete(9_997)
  }
})

test('a web store is mapped and buffered like any other', async () => {
  const [web = ''] = getLocationIds('web')
  const admin = await api.createAccount('admin')
  const mapped = await admin.request(`/mappings/stores/${web}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ecommerceLocationId: '6884556842' }),
  })
  assert.equal(mapped.status, 200, mapped.text)
  const store = (await listStores()).find(({ storeId }) => storeId === web)
  await importAndWait(
    admin,
    'stores',
    `storeId,storeNumber,name,inventoryBuffer\n${web},${store?.storeNumber},${store?.name},2\n`,
  )
  await shop.sync('stock')
  const [row] = await listStock(web)
  assert.deepEqual([row.ecommerceLocationId, row.buffer], ['6884556842', 2])
  assert.equal((await listStores('?kind=web'))[0]?.storeId, web)
})

test('stock of an unknown SKU is skipped with a reason', async () => {
  const [row] = await listStock(getLocationIds('shop')[0] ?? '')
  await api.db.pool.query('delete from stock where sku_id = $1', [row.skuId])
  await api.db.pool.query('delete from variant where sku_id = $1', [row.skuId])
  const rows = [...stores.values()].filter(
    ({ column }) => stock.get(skus.get(Number(row.skuId))?.row ?? -1, column) > 0,
  ).length
  await shop.sync('stock')
  const run = await loadLastRun()
  assert.deepEqual([Number(run.skipped), run.notes], [rows, { 'stock of an unknown SKU: skipped': rows }])
  const [listedRun] = (await (await api.createAccount('maintainer')).get('/syncs/stock/runs')).json.data
  assert.equal(listedRun.skipped, rows)
  const stats = (await readSyncStats(api.db)).find(({ sync }) => sync === 'stock')
  assert.equal(stats?.records.skipped, rows, 'the metric tillbridge_sync_records counts skipped rows')
  assert.equal(listedRun.unchanged + listedRun.new + listedRun.changed + listedRun.skipped, listedRun.read)
})

test('the console shows the skipped rows of a run and their reason', { skip: browserMissing ?? false }, async () => {
  const [run] = (await api.get('/syncs/stock/runs')).json.data
  assert.ok(run.skipped > 0)
  const page = await openConsole(api, await api.createAccount('maintainer'))
  try {
    await page.show('syncs/stock')
    await page.waitForText(`${run.skipped} × stock of an unknown SKU: skipped`)
    const row = await page.evaluate<string[]>(
      `[...document.querySelector('table tbody tr').cells].map(cell => cell.innerText)`,
    )
    const titles = await page.evaluate<string[]>(
      `[...document.querySelectorAll('table th')].map(cell => cell.innerText)`,
    )
    assert.equal(row[titles.findIndex(title => /skipped/i.test(title))], String(run.skipped))
  } finally {
    await page.close()
  }
})
