import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { openImportShop } from '../support/import-shop.ts'
import { holdLocks } from '../support/postgres/hold-locks.ts'
import { startCommand, waitUntil } from '../support/processes.ts'

const shop = await openImportShop()
after(() => shop.close())

test('two services importing one file get two complete rejected files', async () => {
  await shop.db.run(sql`insert into service (name) values ('other')`)
  const lines = Array.from({ length: 5_000 }, (_, i) => `c${i},${i % 1000 === 7 ? 'a\tb' : 'Lee'}`)
  writeFileSync(join(shop.directory, 'both.csv'), `id,surname\n${lines.join('\n')}\n`)
  const startImport = (service: string) =>
    startCommand(
      ['import', 'customers', 'both.csv', '--service', service],
      { DATABASE_URL: shop.connection, DATA_DIR: join(shop.directory, 'data') },
      { cwd: shop.directory },
    )
  const release = await holdLocks(
    shop.db,
    `insert into customer (service_id, id, changed_at, record, ecommerce_ids) values (${shop.service.id}, 'c2500', now(), '', '')`,
  )
  const first = startImport('shop')
  try {
    await waitUntil(
      async () => (await shop.queryRows('select from import_progress')).length,
      'the first lines are imported',
      30_000,
    )
    const second = startImport('other')
    assert.deepEqual(await second.ended, { code: 2, signal: null }, second.err)
  } finally {
    release()
  }
  assert.deepEqual(await first.ended, { code: 2, signal: null }, first.err)
  const countRejectedLines = (name: string) =>
    readFileSync(join(shop.directory, name), 'utf8').trim().split('\n').length - 1
  assert.deepEqual([countRejectedLines('both.csv.rejected.csv'), countRejectedLines('both.csv.rejected-2.csv')], [5, 5])
  assert.match(first.out, /both\.csv\.rejected\.csv .*another import/)
  const repeated = startImport('shop')
  await repeated.ended
  const names = readdirSync(shop.directory).filter(name => name.startsWith('both.csv.'))
  assert.deepEqual(names.sort(), ['both.csv.rejected-2.csv', 'both.csv.rejected.csv'])
})
