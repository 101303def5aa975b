import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openImportShop, type Shop } from '../support/import-shop.ts'
import { cli } from '../support/processes.ts'

let shop: Shop
before(async () => {
  shop = await openImportShop()
})
after(() => shop.close())

/** Runs `tillbridge import …` in the shop's directory. */
function runImport(args: string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'import', ...args], {
    cwd: shop.directory,
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DATABASE_URL: shop.connection },
  })
  return { status, stdout, stderr }
}

test('the exit code distinguishes success, rejected lines and failure', async () => {
  const successful = runImport(['payment-gateways', '-'], 'name\npaypal\n')
  assert.deepEqual([successful.status, successful.stderr], [0, ''])
  assert.match(
    successful.stdout,
    /^file +read +new +changed +unchanged +rejected\n.*\nstandard input +1 +1 +0 +0 +0\n$/,
  )

  const rejectedFile = join(shop.directory, 'import-payment-gateways.rejected.csv')
  const partly = runImport(['payment-gateways', '-'], 'name\npaypal\nstripe,1\n')
  assert.equal(partly.status, 2)
  assert.match(partly.stdout, /The rejected lines are in import-payment-gateways\.rejected\.csv/)
  assert.match(
    readFileSync(rejectedFile, 'utf8'),
    /^line,column,reason,name\n3,,"The line must have 1 cell like the header, but has 2\.",stripe,1\n$/,
  )

  const failed = runImport(['payment-gateways', '-'], 'nome\npaypal\n')
  assert.equal(failed.status, 1)
  assert.match(failed.stderr, /Column "nome" is unknown\. Is it name\?/)
  assert.equal(runImport(['payment-gateways', 'nowhere.csv']).status, 1)
  assert.equal(runImport(['payment-gateways', '-', '--service', 'nobody']).status, 1)
})

test('an email of another customer is rejected with the option that helps', () => {
  const file = 'id,surname,email\nF1,One,family@example.com\nF2,Two,Family@example.com\n'
  const { status, stdout } = runImport(['customers', '-'], file)
  assert.equal(status, 2)
  assert.match(stdout, /belongs to another customer.*without it: --clear-shared-email/s)
  const cleared = runImport(['customers', '-', '--clear-shared-email', '--overwrite-rejected'], file)
  assert.equal(cleared.status, 0, cleared.stdout)
})

test('a named pipe is read once and gets no rejected file', () => {
  execFileSync('mkfifo', [join(shop.directory, 'pipe.ndjson')])
  const lines = '{"name":"piped"}\n{"name":"a\\u0007"}\n'
  spawn('sh', ['-c', 'printf %s "$0" > pipe.ndjson', lines], { cwd: shop.directory })
  const { status, stdout, stderr } = runImport(['payment-gateways', 'pipe.ndjson'])
  assert.deepEqual([status, stderr], [2, ''])
  assert.match(stdout, /^pipe\.ndjson +2 +1 +0 +0 +1$/m)
  assert.match(stdout, /The rejected lines are in import-payment-gateways\.rejected\.ndjson,/)
})

test('several files are imported in order with --map names', async () => {
  writeFileSync(join(shop.directory, 'one.csv'), 'id,Kuerzel,surname,Alter\n1,A,Adams,30\n')
  writeFileSync(join(shop.directory, 'two.ndjson'), '{"id":"1","Kuerzel":"B","surname":"Adams"}\n')
  const { status, stdout } = runImport(['staff', 'one.csv', 'two.ndjson', '--map', 'code=Kuerzel', '--ignore', 'Alter'])
  assert.deepEqual(
    [status, stdout.match(/one\.csv +1 +1/)?.length, stdout.match(/two\.ndjson +1 +0 +1/)?.length],
    [0, 1, 1],
  )
  assert.deepEqual(await shop.queryRows('select code from staff'), [{ code: 'B' }])
  assert.ok(!existsSync(join(shop.directory, 'one.csv.rejected.csv')))
})

test('a complete list accepts one file per import', async () => {
  for (const part of ['1', '2']) writeFileSync(join(shop.directory, `part${part}.csv`), `Customer ID\n${part}\n`)
  const { status, stderr } = runImport(['ecommerce-customers', 'part1.csv', 'part2.csv'])
  assert.deepEqual([status, await shop.queryRows('select from ecommerce_item')], [1, []])
  assert.match(stderr, /each file replaces all earlier records\. Join the files into one\./)
  assert.equal(runImport(['ecommerce-customers', 'part1.csv']).status, 0)
})

test('rejected lines are never written to the imported file', async () => {
  writeFileSync(join(shop.directory, 'again.csv'), 'name\n"a\tb"\n')
  const { status, stderr } = runImport(['payment-gateways', 'again.csv', '--rejected', 'again.csv'])
  assert.deepEqual([status, /is the file to import/.test(stderr)], [1, true])
})
