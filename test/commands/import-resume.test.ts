import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { openImportShop } from '../support/import-shop.ts'
import { holdLocks } from '../support/postgres/hold-locks.ts'
import { cli, waitUntil } from '../support/processes.ts'

const shop = await openImportShop()
after(() => shop.close())
beforeEach(() => shop.queryRows('truncate customer, tombstone, import_progress'))

const options = {
  cwd: shop.directory,
  encoding: 'utf8',
  env: { PATH: process.env.PATH, DATABASE_URL: shop.connection },
} as const
const runImport = (kind: string, ...args: string[]) =>
  spawnSync(process.execPath, [cli, 'import', kind, ...args], options)
const runCustomerImport = (...args: string[]) => runImport('customers', ...args)
const countCustomers = async () => Number((await shop.queryRows('select count(*) from customer'))[0].count)
const readProgress = async () => Number((await shop.queryRows('select line from import_progress'))[0]?.line ?? 0)

/** The number of lines of the file. One line of each batch is rejected. */
const lineCount = 24_000
const batchSize = 2_000
const batchCount = lineCount / batchSize
const lines = Array.from({ length: lineCount }, (_, i) => `c${i},${i % batchSize === 7 ? 'a\tb' : 'Lee'}`)
const file = `id,surname\n${lines.join('\n')}\n`
const readRejectedLines = (path: string) => readFileSync(join(shop.directory, path), 'utf8').trim().split('\n').slice(1)

/** Starts an import that waits for the locks of a statement. Ends it with a signal once `isStarted` returns true. */
async function interrupt(
  [kind, path]: readonly [string, string],
  signal: NodeJS.Signals,
  lockStatement: string,
  isStarted: () => Promise<boolean>,
) {
  const release = await holdLocks(shop.db, lockStatement)
  const child = spawn(process.execPath, [cli, 'import', kind, path], { ...options, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await waitUntil(isStarted, 'the first lines are imported', 30_000).finally(() => {
    child.kill(signal)
    release()
  })
  await ended
  // The last statements of the import can still be running.
  const activeSessions = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`
  await waitUntil(async () => !(await shop.queryRows(activeSessions)).length, 'no statement is running', 30_000)
}

/** Interrupts an import of customers after its first batch. The batch that begins in the middle waits for a lock. */
const interruptCustomers = (path: string, signal: NodeJS.Signals) =>
  interrupt(
    ['customers', path],
    signal,
    `insert into customer (service_id, id, changed_at, record, ecommerce_ids) values (${shop.service.id}, 'c${lineCount / 2}', now(), '', '')`,
    async () => (await readProgress()) > 0,
  )

test('a killed import keeps whole batches and --resume continues after them', async () => {
  writeFileSync(join(shop.directory, 'killed.csv'), file)
  await interruptCustomers('killed.csv', 'SIGKILL')
  const [customerCount, line] = [await countCustomers(), await readProgress()]
  assert.equal(customerCount % (batchSize - 1), 0)
  assert.ok(
    customerCount < lineCount - batchCount && line > 1 && line - 1 <= (customerCount / (batchSize - 1)) * batchSize,
    `${customerCount} at line ${line}`,
  )

  const { status, stdout, stderr } = runCustomerImport('killed.csv', '--resume')
  assert.equal(status, 2)
  const from = line.toLocaleString('en')
  assert.match(stderr, new RegExp(`interrupted a moment ago, after line ${from}\\. Resuming after that line`))
  assert.match(stdout, new RegExp(`^killed\\.csv +${(lineCount + 1 - line).toLocaleString('en')} `, 'm'))
  assert.match(stdout, new RegExp(`^Resumed after line ${from}\\.$`, 'm'))
  assert.deepEqual([await countCustomers(), await readProgress()], [lineCount - batchCount, 0])
  // The rejected lines of both imports are kept in separate files.
  const rejected = new Set(['', '-2'].flatMap(number => readRejectedLines(`killed.csv.rejected${number}.csv`)))
  assert.equal(rejected.size, batchCount)

  const repeated = runCustomerImport('killed.csv', '--resume')
  assert.match(
    repeated.stderr,
    /^No import of this content of killed\.csv was interrupted. Starting at the first line\.$/m,
  )
})

test('a stopped import explains --resume, which requires the same file', async () => {
  writeFileSync(join(shop.directory, 'stopped.csv'), file)
  await interruptCustomers('stopped.csv', 'SIGINT')
  const line = await readProgress()
  writeFileSync(join(shop.directory, 'stopped.csv'), file.replace('c0,', 'x0,'))
  const other = runCustomerImport('stopped.csv', '--resume', '--stop-after', '1')
  assert.match(other.stderr, /No import of this content of stopped\.csv was interrupted/)
  assert.match(other.stdout, /^stopped\.csv +2,000 /m)

  writeFileSync(join(shop.directory, 'stopped.csv'), file)
  const restarted = runCustomerImport('stopped.csv', '--stop-after', '1')
  assert.match(
    restarted.stderr,
    new RegExp(`after line ${line.toLocaleString('en')}\\. Starting at the first line\\. To resume, use --resume\\.`),
  )
  const resumed = runCustomerImport('stopped.csv', '--resume')
  assert.match(resumed.stdout, new RegExp(`^stopped\\.csv +${(lineCount - batchSize).toLocaleString('en')} `, 'm'))
  assert.equal(await countCustomers(), lineCount - batchCount + 1)
})

test('a stream cannot be resumed', () => {
  const { status, stderr } = runCustomerImport('-', '--resume')
  assert.deepEqual(
    [status, stderr],
    [1, "tillbridge: The import of standard input can't be resumed: --resume needs a file.\n"],
  )
})

test('a kill may leave the later of two batches for --resume', async () => {
  const skus = Array.from({ length: 2 * batchSize }, (_, i) => `k${i}`)
  await shop.importFile('stores', 'storeId,storeNumber,name\n1,1,One\n2,2,Two\n')
  const products = skus.map(sku => `p${sku},P,P,c,${sku},${sku},S,1`)
  await shop.importFile(
    'products',
    ['productId,productCode,name,colourId,skuId,sku,sizeCode,price', ...products].join('\n'),
  )
  const buildBatch = (store: number, skuIds: string[]) => skuIds.map(sku => `${store},${sku},5`)
  const [firstSkus, lastSkus] = [skus.slice(0, batchSize), skus.slice(batchSize)]
  const stock = [...buildBatch(2, firstSkus), ...buildBatch(1, firstSkus), ...buildBatch(2, lastSkus)]
  writeFileSync(join(shop.directory, 'stock.csv'), ['storeNumber,skuId,freeStock', ...stock].join('\n'))
  const countSkusByStore = () =>
    shop.queryRows('select store_id as store, count(*)::integer as skus from stock group by 1 order by 1')
  await interrupt(
    ['stock', 'stock.csv'],
    'SIGKILL',
    `select from store where store_id = '1' for update`,
    async () => (await countSkusByStore())[0]?.skus === 2 * batchSize,
  )
  assert.deepEqual(
    [await countSkusByStore(), await readProgress()],
    [[{ store: '2', skus: 2 * batchSize }], batchSize + 1],
  )

  const { status, stdout } = runImport('stock', 'stock.csv', '--resume')
  assert.equal(status, 0)
  assert.match(stdout, /^stock\.csv +4,000 +2,000 +0 +2,000 /m)
  assert.deepEqual(await countSkusByStore(), [
    { store: '1', skus: batchSize },
    { store: '2', skus: 2 * batchSize },
  ])
})
