import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Static } from 'typebox'
import type { ReferenceRow } from '../../../src/domain/catalog/references.ts'
import { type Accounts, importOrder } from './accounts.ts'
import { convertCustomers, convertStaff, convertStores } from './adventureworks-people.ts'
import { convertProducts, convertSales } from './adventureworks-sales.ts'
import { type Folders, openFile } from './csv.ts'
import { convertMagento } from './magento.ts'
import { convertUci } from './uci.ts'

/** The directory of the real data: next to the repository, or `REAL_DATA_DIR`. */
export const realData = process.env.REAL_DATA_DIR ?? join(import.meta.dirname, '../../../../shared/data')

/**
 * Returns the reason to skip the tests with real data, or false. Also prints the reason to standard error, so that a run
 * without real data is not mistaken for a complete one. Throws if `REAL_DATA_DIR` is set and has no data.
 */
export function findSkipReason(): string | false {
  if (existsSync(realData)) return false
  const missing = `the real data is not in ${realData}`
  if (process.env.REAL_DATA_DIR !== undefined) throw new Error(`REAL_DATA_DIR: ${missing}.`)
  process.stderr.write(
    `NOT TESTED: ${missing}. Set REAL_DATA_DIR to where it is; a small generated set is tested instead (test/import/generated-data.test.ts).\n`,
  )
  return missing
}

/**
 * Converts the real data to import files of one shop, and writes `accounts.json` next to them. Prefixes keep the identifiers of the sources
 * distinct. All amounts are read as amounts in the currency of the shop, with two decimals.
 */
export async function convertRealData(from: string, to: string): Promise<Accounts> {
  await mkdir(to, { recursive: true })
  const folders: Folders = { from, to, linesRead: {} }
  const references = openFile<Static<typeof ReferenceRow>>(folders, 'references.csv', 'references', [
    'type',
    'referenceValueId',
    'name',
  ])
  const shops = await convertStores(folders)
  const people = await convertStaff(folders)
  const shoppers = await convertCustomers(folders, references)
  const apparel = await convertMagento(folders, references, shops.stockedStores)
  const bikes = await convertProducts(folders)
  const orders = await convertSales(folders, bikes.items)
  const invoices = await convertUci(folders)

  const parts = [shops, people, shoppers, apparel, bikes, orders, invoices]
  const files = [await references.close(), ...parts.flatMap(part => part.files)]
  files.sort((a, b) => importOrder.indexOf(a.kind) - importOrder.indexOf(b.kind))
  const skus = [apparel.skus, bikes.skus, invoices.skus]
  const differentSkus = new Set(skus.flatMap(skuSet => [...skuSet])).size
  const accounts: Accounts = {
    linesRead: folders.linesRead,
    files,
    records: {
      stores: shops.stores,
      staff: people.counts.staffCodes,
      products: apparel.products + bikes.models + invoices.skus.size,
      skus: differentSkus,
      stock: files.find(file => file.kind === 'stock')?.rows ?? 0,
      customers: shoppers.counts.customers + invoices.customers,
      transactions: orders.transactions + invoices.transactions,
    },
    counts: {
      uci: invoices.counts,
      adventureworks: {
        ...shops.counts,
        ...people.counts,
        ...shoppers.counts,
        ...bikes.counts,
        ...orders.counts,
      },
      magento: apparel.counts,
      shop: { skusInTwoSources: skus.reduce((sum, skuSet) => sum + skuSet.size, 0) - differentSkus },
    },
  }
  await writeFile(join(to, 'accounts.json'), `${JSON.stringify(accounts, null, 2)}\n`)
  return accounts
}

if (import.meta.main) {
  const [to] = process.argv.slice(2)
  if (!to) throw new Error('usage: node test/import/real-data/convert.ts <folder for the import files>')
  const accounts = await convertRealData(realData, to)
  process.stdout.write(`${JSON.stringify(accounts, null, 2)}\n`)
}
