import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { openShop } from '../support/feeds.ts'
import { hold } from '../support/postgres/holding.ts'
import { cli, until } from '../support/processes.ts'

const shop = await openShop()
after(() => shop.close())
beforeEach(() => shop.rows('truncate customer, removal, import_progress'))

const options = {
  cwd: shop.directory,
  encoding: 'utf8',
  env: { PATH: process.env.PATH, DATABASE_URL: shop.connection },
} as const
const run = (...args: string[]) => spawnSync(process.execPath, [cli, 'import', 'customers', ...args], options)
const customers = async () => Number((await shop.rows('select count(*) from customer'))[0].count)
const reached = async () => Number((await shop.rows('select line from import_progress'))[0]?.line ?? 0)

/** Lines of the file; one of each batch is refused. */
const count = 24_000
const atOnce = 2_000
const batches = count / atOnce
const lines = Array.from({ length: count }, (_, i) => `c${i},${i % atOnce === 7 ? 'a\tb' : 'Lee'}`)
const file = `id,surname\n${lines.join('\n')}\n`
const refusedIn = (path: string) => readFileSync(join(shop.directory, path), 'utf8').trim().split('\n').slice(1)

/** Begins an import, and ends it by a signal once its first lines are in, and before those of the middle are. */
async function interrupt(path: string, signal: NodeJS.Signals) {
  const letGo = await hold(
    shop.db,
    `insert into customer (service_id, id, changed_at, record, ecommerce_ids) values (${shop.service.id}, 'c${count / 2}', now(), '', '')`,
  )
  const importing = spawn(process.execPath, [cli, 'import', 'customers', path], { ...options, stdio: 'ignore' })
  const ended = once(importing, 'exit')
  await until(async () => (await reached()) > 0, 'the first lines are in', 30_000).finally(() => {
    importing.kill(signal)
    letGo()
  })
  await ended
  // What it had sent to the database may still be carried out.
  const working = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`
  await until(async () => !(await shop.rows(working)).length, 'nothing is under way', 30_000)
}

test('an import that was killed has left whole batches, and --resume goes on behind them', async () => {
  writeFileSync(join(shop.directory, 'killed.csv'), file)
  await interrupt('killed.csv', 'SIGKILL')
  const [there, line] = [await customers(), await reached()]
  assert.equal(there % (atOnce - 1), 0)
  assert.ok(
    there < count - batches && line > 1 && line - 1 <= (there / (atOnce - 1)) * atOnce,
    `${there} at line ${line}`,
  )

  const { status, stdout, stderr } = run('killed.csv', '--resume')
  assert.equal(status, 2)
  const from = line.toLocaleString('en')
  assert.match(
    stderr,
    new RegExp(`interrupted a moment ago, behind line ${from}: what is up to it is in\\. This one goes on`),
  )
  assert.match(stdout, new RegExp(`^killed\\.csv +${(count + 1 - line).toLocaleString('en')} `, 'm'))
  assert.match(stdout, new RegExp(`^Went on behind line ${from}\\.$`, 'm'))
  assert.deepEqual([await customers(), await reached()], [count - batches, 0])
  // What the first one had refused is kept beside what the second one did.
  const refused = new Set(['', '-2'].flatMap(number => refusedIn(`killed.csv.rejected${number}.csv`)))
  assert.equal(refused.size, batches)

  const again = run('killed.csv', '--resume')
  assert.match(
    again.stderr,
    /^No import of killed\.csv was interrupted, as it is now: this one begins at the first line\.$/m,
  )
})

test('an import that was stopped says how to go on; one that begins anew, or has another file, is told or begins anew', async () => {
  writeFileSync(join(shop.directory, 'stopped.csv'), file)
  await interrupt('stopped.csv', 'SIGINT')
  const line = await reached()
  writeFileSync(join(shop.directory, 'stopped.csv'), file.replace('c0,', 'x0,'))
  const other = run('stopped.csv', '--resume', '--stop-after', '1')
  assert.match(other.stderr, /No import of stopped\.csv was interrupted, as it is now/)
  assert.match(other.stdout, /^stopped\.csv +2,000 /m)

  writeFileSync(join(shop.directory, 'stopped.csv'), file)
  const anew = run('stopped.csv', '--stop-after', '1')
  assert.match(
    anew.stderr,
    new RegExp(
      `behind line ${line.toLocaleString('en')}: .* This one begins at the first line; --resume would go on from there\\.`,
    ),
  )
  const rest = run('stopped.csv', '--resume')
  assert.match(rest.stdout, new RegExp(`^stopped\\.csv +${(count - atOnce).toLocaleString('en')} `, 'm'))
  assert.equal(await customers(), count - batches + 1)
})

test('a stream cannot be gone on with', () => {
  const { status, stderr } = run('-', '--resume')
  assert.deepEqual([status, stderr], [1, 'tillbridge: standard input cannot be gone on with: --resume needs a file.\n'])
})
