import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openImportShop, type Shop } from '../support/import-shop.ts'
import { checkout, runCommand } from '../support/processes.ts'

let shop: Shop
before(async () => {
  shop = await openImportShop()
})
after(() => shop.close())

/** Splits a command at spaces, except in quotation marks. */
const splitCommand = (line: string) =>
  (line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map(word => word.replace(/['"]/g, ''))

/** The corrections that the page describes, by the rejected file that has them. */
const corrections: Record<string, readonly [string, string]> = {
  'examples/data/customers.csv.rejected.csv': [',maybe,', ',no,'],
  'examples/data/customers-europe.csv.rejected.csv': ['30/02/1990', '28/02/1990'],
}

test('the commands of the first import work as documented', async () => {
  const page = readFileSync(join(checkout, 'docs/connect/first-import.md'), 'utf8')
  cpSync(join(checkout, 'examples/data'), join(shop.directory, 'examples/data'), { recursive: true })
  const codes: (number | null)[] = []
  let output = ''
  for (const [, block = ''] of page.matchAll(/^```sh\n(.*?)^```/gms))
    for (const line of block.replaceAll('\\\n', '').trim().split('\n')) {
      // The server isn't needed.
      if (line.startsWith('npm ')) continue
      const args = splitCommand(line.replace('npx tillbridge ', ''))
      const file = args.find(arg => arg in corrections)
      if (file !== undefined) {
        const [from, to] = corrections[file] ?? ['', '']
        const path = join(shop.directory, file)
        writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
      }
      const { code, out, err } = await runCommand(args, { DATABASE_URL: shop.connection }, { cwd: shop.directory })
      assert.ok(code === 0 || /rejected|Suggested options/.test(out + err), `${line}: ${out}${err}`)
      codes.push(code)
      output += out + err
    }
  assert.deepEqual(codes, [0, 0, 0, 0, 0, 2, 2, 0, 1, 2, 0, 0])
  for (const line of page.matchAll(/^(?:1 {9}|Column ).*$/gm)) assert.ok(output.includes(line[0]), line[0])
  const lines = readFileSync(join(shop.directory, 'stock.ndjson'), 'utf8').trim().split('\n')
  assert.equal(lines.length, 10)
  const customers = await shop.queryRows('select id, email, email_subscription as subscribed from customer order by id')
  assert.deepEqual(
    customers.slice(-4).map(({ id, email, subscribed }) => [id, email, subscribed]),
    [
      ['2001', 'j.mueller@example.com', true],
      ['2002', 'renee@example.com', false],
      ['2003', null, true],
      ['2004', 'eve@example.com', false],
    ],
  )
})
