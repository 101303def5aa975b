import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openImportShop } from '../support/import-shop.ts'
import { cli } from '../support/processes.ts'

const shop = await openImportShop()
after(() => shop.close())

const options = {
  cwd: shop.directory,
  encoding: 'utf8',
  env: { PATH: process.env.PATH, DATABASE_URL: shop.connection },
} as const
const runImport = (...args: string[]) => spawnSync(process.execPath, [cli, 'import', ...args], options)
const toPath = (name: string) => join(shop.directory, name)
const readText = (name: string) => readFileSync(toPath(name), 'utf8')

test('an edited rejected file is kept and new rejections get another file', () => {
  writeFileSync(toPath('staff.csv'), 'id,code,surname\n1,,Lee\n2,B,Roe\n')
  assert.equal(runImport('staff', 'staff.csv').status, 2)
  const rejected = readText('staff.csv.rejected.csv')
  const untouched = runImport('staff', 'staff.csv')
  assert.match(untouched.stdout, /The rejected lines are in staff\.csv\.rejected\.csv,/)
  assert.doesNotMatch(untouched.stdout, /edited/)

  const corrected = rejected.replace('1,,Lee', '1,A,Lee')
  writeFileSync(toPath('staff.csv.rejected.csv'), corrected)
  const repeated = runImport('staff', 'staff.csv')
  assert.equal(repeated.status, 2)
  assert.match(repeated.stdout, /The rejected lines are in staff\.csv\.rejected-2\.csv, with reasons/)
  assert.match(
    repeated.stdout,
    /^staff\.csv\.rejected\.csv was edited or belongs to another import, so it was not changed\. To overwrite it: --overwrite-rejected$/m,
  )
  assert.equal(readText('staff.csv.rejected.csv'), corrected)
  assert.equal(readText('staff.csv.rejected-2.csv'), rejected)
  assert.match(runImport('staff', 'staff.csv').stdout, /rejected-2\.csv, with/, 'an unedited file must be overwritten')

  const overwriting = runImport('staff', 'staff.csv', '--overwrite-rejected')
  assert.match(overwriting.stdout, /The rejected lines are in staff\.csv\.rejected\.csv,/)
  assert.equal(readText('staff.csv.rejected.csv'), rejected)
})

test('rejected records are written as records next to an edited file', () => {
  writeFileSync(toPath('staff.ndjson'), '{"id":"3","surname":"Lee"}\n')
  assert.match(runImport('staff', 'staff.ndjson').stdout, /The rejected lines are in staff\.ndjson\.rejected\.ndjson,/)
  const corrected = readText('staff.ndjson.rejected.ndjson').replace('}', ',"code":"C"}')
  writeFileSync(toPath('staff.ndjson.rejected.ndjson'), corrected)
  assert.match(
    runImport('staff', 'staff.ndjson').stdout,
    /The rejected lines are in staff\.ndjson\.rejected-2\.ndjson,/,
  )
  const correctedRun = runImport('staff', 'staff.ndjson.rejected.ndjson')
  assert.deepEqual(
    [correctedRun.status, /rejected\.ndjson +1 +1 +0 +0 +0/.test(correctedRun.stdout)],
    [0, true],
    correctedRun.stdout,
  )
})

test('an edited rejected file is kept; an untouched one is deleted', () => {
  writeFileSync(toPath('gateways.csv'), 'name\n"a\tb"\n')
  runImport('payment-gateways', 'gateways.csv')
  const corrected = readText('gateways.csv.rejected.csv').replace('a\tb', 'ab')
  writeFileSync(toPath('gateways.csv'), 'name\npaypal\n')
  writeFileSync(toPath('gateways.csv.rejected.csv'), corrected)
  const successful = runImport('payment-gateways', 'gateways.csv')
  assert.deepEqual([successful.status, readText('gateways.csv.rejected.csv')], [0, corrected])
  assert.match(
    successful.stdout,
    /^gateways\.csv\.rejected\.csv was edited or belongs to another import, so it was not changed/m,
  )
  assert.equal(runImport('payment-gateways', 'gateways.csv.rejected.csv').status, 0)

  writeFileSync(toPath('others.csv'), 'name\n"a\tb"\n')
  runImport('payment-gateways', 'others.csv')
  writeFileSync(toPath('others.csv'), 'name\npaypal\n')
  runImport('payment-gateways', 'others.csv')
  assert.ok(!existsSync(toPath('others.csv.rejected.csv')))
})

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  test(`${signal} ends an import after the current batch and reports progress`, async () => {
    await shop.queryRows('delete from customer')
    const importProcess = spawn(process.execPath, [cli, 'import', 'customers', '-'], options)
    const [output, errors] = [importProcess.stdout, importProcess.stderr].map(stream =>
      stream.setEncoding('utf8').toArray(),
    )
    const ended = once(importProcess, 'exit')
    const buildLines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => `c${from + i},${i === 7 ? 'a\tb' : 'Lee'}\n`).join('')
    importProcess.stdin.write(`id,surname\n${buildLines(0, 2_500)}`)
    const countCustomers = async () => Number((await shop.queryRows('select count(*) from customer'))[0].count)
    while ((await countCustomers()) < 1_999) await new Promise(resolve => setTimeout(resolve, 20))
    // Standard input stays open, so the import waits for more lines.
    importProcess.kill(signal)
    assert.deepEqual(await ended, [code, null])
    const out = (await output)?.join('') ?? ''
    assert.match(out, /^standard input +2,000 +1,999 +0 +0 +1$/m, out)
    assert.match(
      out,
      /^Stopped after line 2,001 of standard input\. The lines before it are imported\. Importing it again is safe\.$/m,
    )
    assert.match(out, /The rejected lines are in import-customers\.rejected\.csv,/)
    assert.equal((await errors)?.join(''), '')
    assert.equal(await countCustomers(), 1_999)
  })

test('a stopped import starts no further file', async () => {
  writeFileSync(toPath('first.csv'), `name\n${Array.from({ length: 200_000 }, (_, i) => `g${i}\n`).join('')}`)
  writeFileSync(toPath('second.csv'), 'name\nsecond\n')
  const importProcess = spawn(process.execPath, [cli, 'import', 'payment-gateways', 'first.csv', 'second.csv'], options)
  const ended = once(importProcess, 'exit')
  while (!(await shop.queryRows(`select from payment_gateway where name = 'g0'`)).length)
    await new Promise(resolve => setTimeout(resolve, 20))
  importProcess.kill('SIGINT')
  assert.deepEqual(await ended, [130, null])
  assert.equal((await shop.queryRows(`select from payment_gateway where name = 'second'`)).length, 0)
})

test('a truncated compressed file reports the number of stored lines', async () => {
  const file = `id,surname\n${Array.from({ length: 20_000 }, (_, i) => `g${i},Lee ${(i * 7_919) % 10_007}\n`).join('')}`
  const compressed = gzipSync(file)
  writeFileSync(toPath('cut.csv.gz'), compressed.subarray(0, compressed.length * 0.8))
  assert.match(
    runImport('customers', 'cut.csv.gz', '--dry-run').stderr,
    /^tillbridge: cut\.csv\.gz can't be decompressed completely, because it is damaged\.$/m,
  )
  const { status, stderr } = runImport('customers', 'cut.csv.gz')
  const damageMessage =
    /^tillbridge: .* because it is damaged\. (\d+) lines were imported and stay\. Importing the file again is safe\.$/m
  const [row] = await shop.queryRows(`select count(*)::integer as stored from customer where id like 'g%'`)
  assert.deepEqual(
    [status, Number(damageMessage.exec(stderr)?.[1]), row.stored >= 1_000],
    [1, row.stored, true],
    stderr,
  )
  writeFileSync(toPath('cut.csv.gz'), compressed.subarray(0, 100))
  assert.match(runImport('customers', 'cut.csv.gz').stderr, /because it is damaged\.$/m, 'nothing was imported')
})
