import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openImportShop } from '../support/import-shop.ts'
import { holdLocks } from '../support/postgres/hold-locks.ts'
import { waitUntil } from '../support/processes.ts'

const shop = await openImportShop()
after(() => shop.close())

const skus = Array.from({ length: 4_000 }, (_, i) => i)
await shop.importFile('stores', 'storeId,storeNumber,name\n1,1,One\n2,2,Two\n')
await shop.importFile(
  'products',
  [
    'productId,productCode,name,colourId,skuId,sku,sizeCode,price',
    ...skus.map(i => `p${i},P,P,c,k${i},E${i},S,1`),
  ].join('\n'),
)
beforeEach(() => shop.queryRows('truncate stock, stock_reservation_line, tombstone'))

/** Builds a batch of 2,000 stock lines for one store. */
const buildBatch = (number: number, sku: (i: number) => string, count: number) =>
  skus.slice(0, 2_000).map(i => `${number},${sku(i)},${count}`)
const buildFile = (...batches: string[][]) => ['storeNumber,skuId,sku,freeStock', ...batches.flat()].join('\n')
const loadStock = (number: number) =>
  shop.queryRows(
    `select free_stock::float as count, count(*)::integer as skus from stock where store_id = '${number}' group by 1`,
  )
/** Blocks batches with stock of the first store. The returned function ends the block. */
const lockFirstStore = () => holdLocks(shop.db, `select from store where store_id = '1' for update`)
const isBatchWaiting = async () =>
  (
    await shop.queryRows(
      `select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`,
    )
  ).length > 0

test('parallel batches of an initial load report rejections in file order', async () => {
  const release = await lockFirstStore()
  const buildUnknownLine = (number: number) => [`${number},,unknown,1`]
  const [first, second] = [buildBatch(1, i => `k${i},`, 5).slice(1), buildBatch(2, i => `k${i},`, 5).slice(1)]
  const importing = shop.importFile('stock', buildFile(buildUnknownLine(1), first, buildUnknownLine(2), second))
  await waitUntil(async () => (await loadStock(2)).length, 'the second batch is stored').finally(release)
  const { inserted, rejectedFile } = await importing
  assert.equal(inserted, 3_998)
  assert.deepEqual(
    rejectedFile
      ?.trim()
      .split('\n')
      .map(line => line.split(',')[0]),
    ['line', '2', '2002'],
  )
})

test('a batch waits if it names a SKU of the previous one', async () => {
  const release = await lockFirstStore()
  const first = [...buildBatch(2, i => `k${i},`, 5).slice(1), '1,k0,,5']
  const importing = shop.importFile(
    'stock',
    buildFile(
      first,
      buildBatch(2, i => `,E${i}`, 7),
    ),
  )
  await waitUntil(isBatchWaiting, 'the first batch waits')
  // The second batch would need less time than this.
  await delay(300)
  release()
  const { inserted, changed } = await importing
  assert.deepEqual([inserted, changed], [2_001, 1_999])
  assert.deepEqual(await loadStock(2), [{ count: 7, skus: 2_000 }])
})

test('batches run sequentially if rejections can stop the import', async () => {
  const release = await lockFirstStore()
  const first = ['1,,unknown,1', ...buildBatch(1, i => `k${i},`, 5).slice(1)]
  const importing = shop.importFile(
    'stock',
    buildFile(
      first,
      buildBatch(2, i => `k${i},`, 5),
    ),
    { stopAfter: 1 },
  )
  await waitUntil(isBatchWaiting, 'the first batch waits')
  // The second batch would need less time than this.
  await delay(300)
  release()
  const { read, stoppedAfter } = await importing
  assert.deepEqual([read, stoppedAfter, await loadStock(2)], [2_000, 2_001, []])
})

/** Starts an import of two batches of 2,000 valid lines and blocks the first one. `between` is the first line of the second batch. */
async function importWithLockedBatch(
  kind: string,
  head: string,
  line: (i: number) => string,
  between: string,
  locked: string,
) {
  const release = await holdLocks(shop.db, locked)
  const lines = skus.map(line)
  const importing = shop.importFile(kind, [head, ...lines.slice(0, 2_000), between, ...lines.slice(2_000)].join('\n'))
  await waitUntil(isBatchWaiting, 'the first batch waits').catch(error => {
    release()
    throw error
  })
  return { release, importing }
}

const customers = ['customers', 'id,surname,email,joinedStoreId'] as const
/** Builds a customer line. Lines of the first batch refer to the first store, which is locked. */
const buildCustomerLine = (i: number) => `c${i},L,c${i}@example.com,${i < 2_000 ? 1 : ''}`
const firstStore = `select from store where store_id = '1' for update`
const stores = ['stores', 'storeId,storeNumber,name'] as const
const buildStoreLine = (i: number) => `s${i},n${i},S`
const insertStoreSql = `insert into store (service_id, store_id, store_number, name, changed_at, record) values (${shop.service.id}, 's0', 's0', '', now(), '')`

test('a value released by a line is free for later lines', async () => {
  const release = await holdLocks(shop.db, firstStore)
  const buildLines = (from: number, count: number, at = '') =>
    Array.from({ length: count }, (_, i) => `c${from + i},L,c${from + i}@example.com,${at}`)
  // Every line of the second batch refers to the locked store. Its first line releases the email that the third batch claims.
  const batches = [
    buildLines(0, 2_000),
    ['c0,L,other@example.com,1', ...buildLines(2_000, 1_999, '1')],
    ['d,L,c0@example.com,', ...buildLines(4_000, 1_999)],
  ]
  const importing = shop.importFile(customers[0], [customers[1], ...batches.flat()].join('\n'))
  const hasArrived = async () => (await shop.queryRows(`select from customer where id = 'c4000'`)).length
  await waitUntil(hasArrived, 'the third batch is stored').finally(release)
  const { inserted, changed, rejectedFile } = await importing
  assert.deepEqual([inserted, changed, rejectedFile], [6_000 - 1, 1, undefined])
})

for (const [[kind, head], line, table, locked, between, rejected] of [
  [customers, buildCustomerLine, 'customer', firstStore, 'd,L,d@example.com,', 'e,L,C7@EXAMPLE.COM,'],
  [stores, buildStoreLine, 'store', insertStoreSql, 't,t,S', 'u,n7,S'],
] as const) {
  const deleteAll = () => shop.queryRows(kind === 'stores' ? 'truncate store cascade' : 'truncate customer, tombstone')

  test(`a batch of ${kind} is imported in parallel with the previous one`, async () => {
    await deleteAll()
    const { release, importing } = await importWithLockedBatch(kind, head, line, between, locked)
    const hasArrived = async () =>
      (await shop.queryRows(`select from ${table} where record like '%"${between[0]}"%'`)).length
    await waitUntil(hasArrived, 'the second batch is stored').finally(release)
    assert.deepEqual((await importing).inserted, 4_001)
  })

  test(`a line that claims values of ${kind} waits and is rejected`, async () => {
    await deleteAll()
    const { release, importing } = await importWithLockedBatch(kind, head, line, rejected, locked)
    // The second batch would need less time than this.
    await delay(300)
    release()
    const { inserted, rejectedFile } = await importing
    const [, first, ...laterLines] = rejectedFile?.trim().split('\n') ?? []
    assert.deepEqual([inserted, laterLines], [4_000, []])
    assert.match(first ?? '', new RegExp(`^2002,.*,${RegExp.escape(rejected)}$`))
  })
}
