import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openShop } from '../support/feeds.ts'
import { hold } from '../support/postgres/holding.ts'
import { until } from '../support/processes.ts'

const shop = await openShop()
after(() => shop.close())

const skus = Array.from({ length: 4_000 }, (_, i) => i)
await shop.feed('stores', 'storeId,storeNumber,name\n1,1,One\n2,2,Two\n')
await shop.feed(
  'products',
  [
    'productId,productCode,name,colourId,skuId,sku,sizeCode,price',
    ...skus.map(i => `p${i},P,P,c,k${i},E${i},S,1`),
  ].join('\n'),
)
beforeEach(() => shop.rows('truncate stock, removal'))

/** A batch of lines for one store. */
const batch = (store: number, sku: (i: number) => string, count: number) =>
  skus.slice(0, 2_000).map(i => `${store},${sku(i)},${count}`)
const file = (...batches: string[][]) => ['storeNumber,skuId,sku,freeStock', ...batches.flat()].join('\n')
const stockOf = (store: number) =>
  shop.rows(`select free_stock as count, count(*)::integer as skus from stock where store_id = '${store}' group by 1`)
/** Keeps batches from going in that have stock of the first store. */
const holdFirstStore = () => hold(shop.db, `select from store where store_id = '1' for update`)
const isHeld = async () =>
  (await shop.rows(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`))
    .length > 0

test('a batch of a first load goes in beside the one before it, and what is refused is told in the order of the file', async () => {
  const letGo = await holdFirstStore()
  const unknown = (store: number) => [`${store},,unknown,1`]
  const [one, two] = [batch(1, i => `k${i},`, 5).slice(1), batch(2, i => `k${i},`, 5).slice(1)]
  const importing = shop.feed('stock', file(unknown(1), one, unknown(2), two))
  await until(async () => (await stockOf(2)).length, 'the second batch is in').finally(letGo)
  const { inserted, rejected } = await importing
  assert.equal(inserted, 3_998)
  assert.deepEqual(
    rejected
      ?.trim()
      .split('\n')
      .map(line => line.split(',')[0]),
    ['line', '2', '2002'],
  )
})

test('one that names a SKU of the batch before it waits for that, however both name it: the later line wins', async () => {
  const letGo = await holdFirstStore()
  const first = [...batch(2, i => `k${i},`, 5).slice(1), '1,k0,,5']
  const importing = shop.feed(
    'stock',
    file(
      first,
      batch(2, i => `,E${i}`, 7),
    ),
  )
  await until(isHeld, 'the first batch waits')
  // As long as the second one would need.
  await delay(300)
  letGo()
  const { inserted, changed } = await importing
  assert.deepEqual([inserted, changed], [2_001, 1_999])
  assert.deepEqual(await stockOf(2), [{ count: 7, skus: 2_000 }])
})

test('where refused lines may stop the import each batch waits for the one before it', async () => {
  const letGo = await holdFirstStore()
  const first = ['1,,unknown,1', ...batch(1, i => `k${i},`, 5).slice(1)]
  const importing = shop.feed(
    'stock',
    file(
      first,
      batch(2, i => `k${i},`, 5),
    ),
    { stopAfter: 1 },
  )
  await until(isHeld, 'the first batch waits')
  // As long as the second one would need.
  await delay(300)
  letGo()
  const { read, stoppedAfter } = await importing
  assert.deepEqual([read, stoppedAfter, await stockOf(2)], [2_000, 2_001, []])
})
