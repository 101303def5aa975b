import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { openImportShop } from '../support/import-shop.ts'

const shop = await openImportShop()
after(() => shop.close())

const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))
const options = {
  cwd: shop.directory,
  encoding: 'utf8',
  env: { PATH: process.env.PATH, DATABASE_URL: shop.connection },
} as const
const run = (...args: string[]) => spawnSync(process.execPath, [cli, 'import', ...args], options)
const at = (name: string) => join(shop.directory, name)
const textOf = (name: string) => readFileSync(at(name), 'utf8')

test('an edited rejected file is kept and new rejections get another file', () => {
  writeFileSync(at('staff.csv'), 'id,code,surname\n1,,Lee\n2,B,Roe\n')
  assert.equal(run('staff', 'staff.csv').status, 2)
  const rejected = textOf('staff.csv.rejected.csv')
  const untouched = run('staff', 'staff.csv')
  assert.match(untouched.stdout, /The rejected lines are in staff\.csv\.rejected\.csv,/)
  assert.doesNotMatch(untouched.stdout, /edited/)

  const corrected = rejected.replace('1,,Lee', '1,A,Lee')
  writeFileSync(at('staff.csv.rejected.csv'), corrected)
  const again = run('staff', 'staff.csv')
  assert.equal(again.status, 2)
  assert.match(again.stdout, /The rejected lines are in staff\.csv\.rejected-2\.csv, with reasons/)
  assert.match(
    again.stdout,
    /^staff\.csv\.rejected\.csv was edited or belongs to another import, so it was not changed\. To overwrite it: --overwrite-rejected$/m,
  )
  assert.equal(textOf('staff.csv.rejected.csv'), corrected)
  assert.equal(textOf('staff.csv.rejected-2.csv'), rejected)
  assert.match(run('staff', 'staff.csv').stdout, /rejected-2\.csv, with/, 'an unedited file is overwritten')

  const over = run('staff', 'staff.csv', '--overwrite-rejected')
  assert.match(over.stdout, /The rejected lines are in staff\.csv\.rejected\.csv,/)
  assert.equal(textOf('staff.csv.rejected.csv'), rejected)
})

test('rejected records are written as records next to an edited file', () => {
  writeFileSync(at('staff.ndjson'), '{"id":"3","surname":"Lee"}\n')
  assert.match(run('staff', 'staff.ndjson').stdout, /The rejected lines are in staff\.ndjson\.rejected\.ndjson,/)
  const corrected = textOf('staff.ndjson.rejected.ndjson').replace('}', ',"code":"C"}')
  writeFileSync(at('staff.ndjson.rejected.ndjson'), corrected)
  assert.match(run('staff', 'staff.ndjson').stdout, /The rejected lines are in staff\.ndjson\.rejected-2\.ndjson,/)
  const again = run('staff', 'staff.ndjson.rejected.ndjson')
  assert.deepEqual([again.status, /rejected\.ndjson +1 +1 +0 +0 +0/.test(again.stdout)], [0, true], again.stdout)
})

test('an edited rejected file is kept; an untouched one is deleted', () => {
  writeFileSync(at('gateways.csv'), 'name\n"a\tb"\n')
  run('payment-gateways', 'gateways.csv')
  const corrected = textOf('gateways.csv.rejected.csv').replace('a\tb', 'ab')
  writeFileSync(at('gateways.csv'), 'name\npaypal\n')
  writeFileSync(at('gateways.csv.rejected.csv'), corrected)
  const good = run('payment-gateways', 'gateways.csv')
  assert.deepEqual([good.status, textOf('gateways.csv.rejected.csv')], [0, corrected])
  assert.match(
    good.stdout,
    /^gateways\.csv\.rejected\.csv was edited or belongs to another import, so it was not changed/m,
  )
  assert.equal(run('payment-gateways', 'gateways.csv.rejected.csv').status, 0)

  writeFileSync(at('others.csv'), 'name\n"a\tb"\n')
  run('payment-gateways', 'others.csv')
  writeFileSync(at('others.csv'), 'name\npaypal\n')
  run('payment-gateways', 'others.csv')
  assert.ok(!existsSync(at('others.csv.rejected.csv')))
})

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  test(`${signal} ends an import after the current batch and reports progress`, async () => {
    await shop.queryRows('delete from customer')
    const importing = spawn(process.execPath, [cli, 'import', 'customers', '-'], options)
    const [output, errors] = [importing.stdout, importing.stderr].map(stream => stream.setEncoding('utf8').toArray())
    const ended = once(importing, 'exit')
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => `c${from + i},${i === 7 ? 'a\tb' : 'Lee'}\n`).join('')
    importing.stdin.write(`id,surname\n${lines(0, 2_500)}`)
    const count = async () => Number((await shop.queryRows('select count(*) from customer'))[0].count)
    while ((await count()) < 1_999) await new Promise(resolve => setTimeout(resolve, 20))
    // Its standard input stays open: it waits for more.
    importing.kill(signal)
    assert.deepEqual(await ended, [code, null])
    const out = (await output)?.join('') ?? ''
    assert.match(out, /^standard input +2,000 +1,999 +0 +0 +1$/m, out)
    assert.match(
      out,
      /^Stopped after line 2,001 of standard input\. The lines before it are imported\. Importing it again is safe\.$/m,
    )
    assert.match(out, /The rejected lines are in import-customers\.rejected\.csv,/)
    assert.equal((await errors)?.join(''), '')
    assert.equal(await count(), 1_999)
  })

test('a stopped import starts no further file', async () => {
  writeFileSync(at('first.csv'), `name\n${Array.from({ length: 200_000 }, (_, i) => `g${i}\n`).join('')}`)
  writeFileSync(at('second.csv'), 'name\nsecond\n')
  const importing = spawn(process.execPath, [cli, 'import', 'payment-gateways', 'first.csv', 'second.csv'], options)
  const ended = once(importing, 'exit')
  while (!(await shop.queryRows(`select from payment_gateway where name = 'g0'`)).length)
    await new Promise(resolve => setTimeout(resolve, 20))
  importing.kill('SIGINT')
  assert.deepEqual(await ended, [130, null])
  assert.equal((await shop.queryRows(`select from payment_gateway where name = 'second'`)).length, 0)
})

test('a truncated compressed file reports the number of stored lines', async () => {
  const file = `id,surname\n${Array.from({ length: 20_000 }, (_, i) => `g${i},Lee ${(i * 7_919) % 10_007}\n`).join('')}`
  const packed = gzipSync(file)
  writeFileSync(at('cut.csv.gz'), packed.subarray(0, packed.length * 0.8))
  assert.match(
    run('customers', 'cut.csv.gz', '--dry-run').stderr,
    /^tillbridge: cut\.csv\.gz can't be decompressed completely, because it is damaged\.$/m,
  )
  const { status, stderr } = run('customers', 'cut.csv.gz')
  const said =
    /^tillbridge: .* because it is damaged\. (\d+) lines were imported and stay\. Importing the file again is safe\.$/m
  const [row] = await shop.queryRows(`select count(*)::integer as stored from customer where id like 'g%'`)
  assert.deepEqual([status, Number(said.exec(stderr)?.[1]), row.stored >= 1_000], [1, row.stored, true], stderr)
  writeFileSync(at('cut.csv.gz'), packed.subarray(0, 100))
  assert.match(run('customers', 'cut.csv.gz').stderr, /because it is damaged\.$/m, 'nothing went in')
})
