import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { openDatabase, sql } from '../../src/database/db.ts'
import { importFile } from '../../src/import/import-file.ts'
import { openImportShop } from '../support/import-shop.ts'
import { waitUntil } from '../support/processes.ts'

const shop = await openImportShop()
after(() => shop.close())

const stores = Array.from({ length: 60 }, (_, i) => `s${i}`)
const skus = Array.from({ length: 100 }, (_, i) => `k${i}`)
const files = {
  stores: ['storeId,storeNumber,name', ...stores.map(id => `${id},${id},${id}`)],
  products: [
    'productId,productCode,name,colourId,skuId,sizeCode,price',
    ...skus.map(id => `${id},${id},P,c,${id},S,1`),
  ],
  stock: buildStockLines(1),
}

function buildStockLines(count: number) {
  return ['storeNumber,skuId,freeStock', ...stores.flatMap(store => skus.map(sku => `${store},${sku},${count}`))]
}

/** Returns how many stock rows were read and written. PostgreSQL counts them when a connection ends. */
const countStockAccess = () =>
  shop.db.row<{ read: number; written: number }>(sql`
    select (coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as read, (n_tup_ins + n_tup_upd)::integer as written
      from pg_stat_user_tables where relname = 'stock'`)

test('lines of a service missing from statistics use index look-ups', async () => {
  for (const [kind, lines] of Object.entries(files)) await shop.importFile(kind, lines.join('\n'))
  await shop.db.run(sql`analyze`)
  const row = await shop.db.row<{ id: number }>(
    sql`insert into service (name) values ('second') returning service_id as id`,
  )
  const second = { ...shop.service, id: row?.id ?? 0, name: 'second' }
  const db = openDatabase(shop.connection, { max: 2 })
  try {
    for (const [kind, lines] of [...Object.entries(files), ['stock', buildStockLines(2)] as const]) {
      const stream = Readable.from([Buffer.from(lines.join('\n'))])
      const { inserted, changed } = await importFile(db, second, kind, { name: kind, format: 'csv', stream })
      assert.equal(inserted + changed, lines.length - 1)
    }
  } finally {
    await db.close()
  }
  const lines = stores.length * skus.length
  await waitUntil(
    async () => (await countStockAccess())?.written === 3 * lines,
    'PostgreSQL has counted all rows',
    20_000,
  )
  const { read = Number.NaN } = (await countStockAccess()) ?? {}
  assert.ok(read <= 15 * lines, `${read} rows of the stock were read for ${lines} lines`)
})
