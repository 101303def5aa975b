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

function getDatabaseUrl() {
  const { connection } = shop
  if (typeof connection === 'string') return connection
  const { user, host, port, database } = connection
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host ?? '')}&port=${port}`
}

test('the commands of the first import work as documented', async () => {
  const page = readFileSync(join(checkout, 'docs/connect/first-import.md'), 'utf8')
  cpSync(join(checkout, 'examples/data'), join(shop.directory, 'examples/data'), { recursive: true })
  const rejectedFile = join(shop.directory, 'examples/data/customers.csv.rejected.csv')
  const codes: (number | null)[] = []
  for (const [, block = ''] of page.matchAll(/^```sh\n(.*?)^```/gms))
    for (const line of block.trim().split('\n')) {
      const args = line.replace('npx tillbridge ', '').split(' ')
      if (args.includes('examples/data/customers.csv.rejected.csv'))
        writeFileSync(rejectedFile, readFileSync(rejectedFile, 'utf8').replace(',maybe,', ',no,'))
      const { code, out, err } = await runCommand(args, { DATABASE_URL: getDatabaseUrl() }, { cwd: shop.directory })
      assert.ok(code === 0 || /rejected/.test(out), `${line}: ${out}${err}`)
      codes.push(code)
    }
  assert.deepEqual(codes, [0, 0, 0, 0, 0, 2, 2, 0, 0])
  const lines = readFileSync(join(shop.directory, 'stock.ndjson'), 'utf8').trim().split('\n')
  assert.equal(lines.length, 10)
})
