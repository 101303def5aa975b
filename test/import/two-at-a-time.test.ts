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

/** Feeds 4,000 lines of which the first batch waits, with one between that the other batch begins with: it is refused, and all others are in. */
async function refusesLater(kind: string, head: string, line: (i: number) => string, later: string, held: string) {
  const letGo = await hold(shop.db, held)
  const lines = skus.map(line)
  const importing = shop.feed(kind, [head, ...lines.slice(0, 2_000), later, ...lines.slice(2_000)].join('\n'))
  await until(isHeld, 'the first batch waits').catch(error => {
    letGo()
    throw error
  })
  // As long as the second one would need.
  await delay(300)
  letGo()
  const { inserted, rejected } = await importing
  const [, refused, ...others] = rejected?.trim().split('\n') ?? []
  assert.deepEqual([inserted, others], [4_000, []])
  assert.match(refused ?? '', new RegExp(`^2002,.*,${RegExp.escape(later)}$`))
}

test('of two customers with one e-mail address, whatever its case, the later one is refused', () =>
  refusesLater(
    'customers',
    'id,surname,email,joinedStoreId',
    i => `c${i},L,c${i}@example.com,${i < 2_000 ? 1 : ''}`,
    'd,L,C7@EXAMPLE.COM,',
    `select from store where store_id = '1' for update`,
  ))

test('of two stores with one number the later one is refused', async () => {
  await shop.rows('delete from store')
  await refusesLater(
    'stores',
    'storeId,storeNumber,name',
    i => `s${i},n${i},S`,
    't,n7,S',
    `insert into store (service_id, store_id, store_number, name, changed_at, record) values (${shop.service.id}, 's0', 's0', '', now(), '')`,
  )
})
