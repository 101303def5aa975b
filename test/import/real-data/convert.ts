import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Static } from 'typebox'
import type { ReferenceRow } from '../../../src/domain/catalog/references.ts'
import { type Accounts, importOrder } from './accounts.ts'
import { customers, staff, stores } from './adventureworks-people.ts'
import { products, sales } from './adventureworks-sales.ts'
import { type Folders, openFile } from './csv.ts'
import { magento } from './magento.ts'
import { uci } from './uci.ts'

/** Where the real data lies: beside the repository, or in `REAL_DATA_DIR`. */
export const realData = process.env.REAL_DATA_DIR ?? join(import.meta.dirname, '../../../../shared/data')

/**
 * Why tests of the real data are skipped, or false; said on standard error too, so that nobody takes a run without it for one with it. A
 * `REAL_DATA_DIR` in which there is nothing is a mistake of whoever has set it, and fails.
 */
export function withoutRealData(): string | false {
  if (existsSync(realData)) return false
  const missing = `the real data is not in ${realData}`
  if (process.env.REAL_DATA_DIR !== undefined) throw new Error(`REAL_DATA_DIR: ${missing}.`)
  process.stderr.write(
    `NOT TESTED: ${missing}. Set REAL_DATA_DIR to where it is; a small made-up set is tested meanwhile (test/import/made-up-data.test.ts).\n`,
  )
  return missing
}

/**
 * Turns the real data into the feed files of a whole shop, with `accounts.json` beside them. The sources keep apart by
 * the prefixes of their identifiers; all amounts are taken to be in the one currency that the shop has, with two decimals.
 */
export async function convertRealData(from: string, to: string): Promise<Accounts> {
  await mkdir(to, { recursive: true })
  const folders: Folders = { from, to, linesRead: {} }
  const references = openFile<Static<typeof ReferenceRow>>(folders, 'references.csv', 'references', [
    'type',
    'referenceValueId',
    'name',
  ])
  const shops = await stores(folders)
  const people = await staff(folders)
  const shoppers = await customers(folders, references)
  const apparel = await magento(folders, references, shops.keepStock)
  const bikes = await products(folders)
  const orders = await sales(folders, bikes.items)
  const invoices = await uci(folders)

  const parts = [shops, people, shoppers, apparel, bikes, orders, invoices]
  const files = [await references.close(), ...parts.flatMap(part => part.files)]
  files.sort((a, b) => importOrder.indexOf(a.kind) - importOrder.indexOf(b.kind))
  const skus = [apparel.skus, bikes.skus, invoices.skus]
  const differentSkus = new Set(skus.flatMap(some => [...some])).size
  const accounts: Accounts = {
    linesRead: folders.linesRead,
    files,
    records: {
      stores: shops.stores,
      staff: people.counted.staffCodes,
      products: apparel.products + bikes.models + invoices.skus.size,
      skus: differentSkus,
      stock: files.find(file => file.kind === 'stock')?.rows ?? 0,
      customers: shoppers.counted.customers + invoices.customers,
      transactions: orders.transactions + invoices.transactions,
    },
    counted: {
      uci: invoices.counted,
      adventureworks: {
        ...shops.counted,
        ...people.counted,
        ...shoppers.counted,
        ...bikes.counted,
        ...orders.counted,
      },
      magento: apparel.counted,
      shop: { skusInTwoSources: skus.reduce((sum, some) => sum + some.size, 0) - differentSkus },
    },
  }
  await writeFile(join(to, 'accounts.json'), `${JSON.stringify(accounts, null, 2)}\n`)
  return accounts
}

if (import.meta.main) {
  const [to] = process.argv.slice(2)
  if (!to) throw new Error('usage: node test/real-data/convert.ts <folder for the feed files>')
  const accounts = await convertRealData(realData, to)
  process.stdout.write(`${JSON.stringify(accounts, null, 2)}\n`)
}
