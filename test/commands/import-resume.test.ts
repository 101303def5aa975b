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
const importing = (kind: string, ...args: string[]) =>
  spawnSync(process.execPath, [cli, 'import', kind, ...args], options)
const run = (...args: string[]) => importing('customers', ...args)
const customers = async () => Number((await shop.queryRows('select count(*) from customer'))[0].count)
const reached = async () => Number((await shop.queryRows('select line from import_progress'))[0]?.line ?? 0)

/** Lines of the file; one of each batch is rejected. */
const count = 24_000
const atOnce = 2_000
const batches = count / atOnce
const lines = Array.from({ length: count }, (_, i) => `c${i},${i % atOnce === 7 ? 'a\tb' : 'Lee'}`)
const file = `id,surname\n${lines.join('\n')}\n`
const rejectedPath = (path: string) => readFileSync(join(shop.directory, path), 'utf8').trim().split('\n').slice(1)

/** Begins an import while what a statement locks is held, and ends it by a signal once `isIn`. */
async function interrupt(
  [kind, path]: readonly [string, string],
  signal: NodeJS.Signals,
  locked: string,
  isIn: () => Promise<boolean>,
) {
  const letGo = await holdLocks(shop.db, locked)
  const child = spawn(process.execPath, [cli, 'import', kind, path], { ...options, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await waitUntil(isIn, 'the first lines are in', 30_000).finally(() => {
    child.kill(signal)
    letGo()
  })
  await ended
  // Its last statements may still be running.
  const working = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`
  await waitUntil(async () => !(await shop.queryRows(working)).length, 'nothing is under way', 30_000)
}

/** The same of the file of customers: its first lines are in, and the batch that begins in the middle is not. */
const interruptCustomers = (path: string, signal: NodeJS.Signals) =>
  interrupt(
    ['customers', path],
    signal,
    `insert into customer (service_id, id, changed_at, record, ecommerce_ids) values (${shop.service.id}, 'c${count / 2}', now(), '', '')`,
    async () => (await reached()) > 0,
  )

test('a killed import keeps whole batches and --resume continues after them', async () => {
  writeFileSync(join(shop.directory, 'killed.csv'), file)
  await interruptCustomers('killed.csv', 'SIGKILL')
  const [there, line] = [await customers(), await reached()]
  assert.equal(there % (atOnce - 1), 0)
  assert.ok(
    there < count - batches && line > 1 && line - 1 <= (there / (atOnce - 1)) * atOnce,
    `${there} at line ${line}`,
  )

  const { status, stdout, stderr } = run('killed.csv', '--resume')
  assert.equal(status, 2)
  const from = line.toLocaleString('en')
  assert.match(stderr, new RegExp(`interrupted a moment ago, after line ${from}\\. Resuming after that line`))
  assert.match(stdout, new RegExp(`^killed\\.csv +${(count + 1 - line).toLocaleString('en')} `, 'm'))
  assert.match(stdout, new RegExp(`^Resumed after line ${from}\\.$`, 'm'))
  assert.deepEqual([await customers(), await reached()], [count - batches, 0])
  // The rejected lines of both imports are kept in separate files.
  const rejected = new Set(['', '-2'].flatMap(number => rejectedPath(`killed.csv.rejected${number}.csv`)))
  assert.equal(rejected.size, batches)

  const again = run('killed.csv', '--resume')
  assert.match(
    again.stderr,
    /^No import of this content of killed\.csv was interrupted. Starting at the first line\.$/m,
  )
})

test('a stopped import explains --resume, which requires the same file', async () => {
  writeFileSync(join(shop.directory, 'stopped.csv'), file)
  await interruptCustomers('stopped.csv', 'SIGINT')
  const line = await reached()
  writeFileSync(join(shop.directory, 'stopped.csv'), file.replace('c0,', 'x0,'))
  const other = run('stopped.csv', '--resume', '--stop-after', '1')
  assert.match(other.stderr, /No import of this content of stopped\.csv was interrupted/)
  assert.match(other.stdout, /^stopped\.csv +2,000 /m)

  writeFileSync(join(shop.directory, 'stopped.csv'), file)
  const again = run('stopped.csv', '--stop-after', '1')
  assert.match(
    again.stderr,
    new RegExp(`after line ${line.toLocaleString('en')}\\. Starting at the first line\\. To resume, use --resume\\.`),
  )
  const resumed = run('stopped.csv', '--resume')
  assert.match(resumed.stdout, new RegExp(`^stopped\\.csv +${(count - atOnce).toLocaleString('en')} `, 'm'))
  assert.equal(await customers(), count - batches + 1)
})

test('a stream cannot be resumed', () => {
  const { status, stderr } = run('-', '--resume')
  assert.deepEqual(
    [status, stderr],
    [1, "tillbridge: The import of standard input can't be resumed: --resume needs a file.\n"],
  )
})

test('a kill may leave the later of two batches for --resume', async () => {
  const skus = Array.from({ length: 2 * atOnce }, (_, i) => `k${i}`)
  await shop.importFile('stores', 'storeId,storeNumber,name\n1,1,One\n2,2,Two\n')
  const products = skus.map(sku => `p${sku},P,P,c,${sku},${sku},S,1`)
  await shop.importFile(
    'products',
    ['productId,productCode,name,colourId,skuId,sku,sizeCode,price', ...products].join('\n'),
  )
  const batch = (store: number, of: string[]) => of.map(sku => `${store},${sku},5`)
  const [early, late] = [skus.slice(0, atOnce), skus.slice(atOnce)]
  const stock = [...batch(2, early), ...batch(1, early), ...batch(2, late)]
  writeFileSync(join(shop.directory, 'stock.csv'), ['storeNumber,skuId,freeStock', ...stock].join('\n'))
  const there = () =>
    shop.queryRows('select store_id as store, count(*)::integer as skus from stock group by 1 order by 1')
  await interrupt(
    ['stock', 'stock.csv'],
    'SIGKILL',
    `select from store where store_id = '1' for update`,
    async () => (await there())[0]?.skus === 2 * atOnce,
  )
  assert.deepEqual([await there(), await reached()], [[{ store: '2', skus: 2 * atOnce }], atOnce + 1])

  const { status, stdout } = importing('stock', 'stock.csv', '--resume')
  assert.equal(status, 0)
  assert.match(stdout, /^stock\.csv +4,000 +2,000 +0 +2,000 /m)
  assert.deepEqual(await there(), [
    { store: '1', skus: atOnce },
    { store: '2', skus: 2 * atOnce },
  ])
})
