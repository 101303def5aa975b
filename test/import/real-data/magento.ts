import type { Static } from 'typebox'
import type { ProductRow } from '../../../src/domain/catalog/products.ts'
import type { ReferenceRow } from '../../../src/domain/catalog/references.ts'
import type { StockRow } from '../../../src/domain/inventory/stock-level.ts'
import { parseAmount } from '../../../src/domain/values/money.ts'
import { type FileWriter, type Folders, openFile, readSource } from './csv.ts'

/** The percentages of a variant's units in the stores that have stock. */
export const storeShares = [40, 25, 20, 10, 5]

const letterSizes = ['XS', 'S', 'M', 'L', 'XL']

/** Converts the catalogue. A style is a product with colours and sizes. Its units are spread over `storeNumbers` by `storeShares`. */
export async function convertMagento(
  folders: Folders,
  references: FileWriter<Static<typeof ReferenceRow>>,
  storeNumbers: string[],
) {
  const products = openFile<Static<typeof ProductRow>>(folders, 'products-magento.csv', 'products', [
    'productId',
    'productCode',
    'name',
    'references',
    'colourId',
    'colourName',
    'skuId',
    'sku',
    'sizeCode',
    'sequence',
    'price',
  ])
  const stock = openFile<Static<typeof StockRow>>(folders, 'stock-magento.csv', 'stock', [
    'storeNumber',
    'sku',
    'freeStock',
    'buffer',
  ])
  const styles = new Set<string>()
  const colours = new Set<string>()
  const skus = new Set<string>()
  const categories = new Map<string, string>()
  let units = 0
  const columns = ['style_code', 'style_name', 'category', 'sku', 'colour', 'size', 'price', 'qty'] as const
  for await (const row of readSource(folders, 'magento-apparel/variants.csv', columns)) {
    let category = categories.get(row.category)
    if (!category) {
      category = `MG-category-${categories.size + 1}`
      categories.set(row.category, category)
      await references.write({ type: 'category', referenceValueId: category, name: row.category })
    }
    const letter = letterSizes.indexOf(row.size)
    await products.write(
      {
        productId: `MG-${row.style_code}`,
        productCode: row.style_code,
        name: row.style_name,
        references: `category=${category}`,
        colourId: `MG-${row.style_code}-${row.colour}`,
        colourName: row.colour,
        skuId: `MG-${row.sku}`,
        sku: row.sku,
        sizeCode: row.size,
        sequence: letter < 0 ? Number(row.size) : letter + 1,
        price: row.price,
      },
      { value: parseAmount(row.price, 2) },
    )
    for (const [at, freeStock] of spreadUnits(Number(row.qty)).entries()) {
      // Some SKUs have their own buffer in the second store. All others use the buffer of the store or the service.
      const buffer = at === 1 && skus.size % 7 === 0 ? { buffer: 3 } : {}
      await stock.write(
        { storeNumber: storeNumbers[at] as string, sku: row.sku, freeStock, ...buffer },
        { quantity: freeStock },
      )
    }
    styles.add(row.style_code)
    colours.add(`${row.style_code} ${row.colour}`)
    skus.add(row.sku)
    units += Number(row.qty)
  }
  return {
    files: [await products.close(), await stock.close()],
    products: styles.size,
    skus,
    counts: { styles: styles.size, styleColours: colours.size, categories: categories.size, units },
  }
}

/** Divides units by `storeShares`. The first store gets the remainder. */
function spreadUnits(units: number): number[] {
  const [, ...otherUnits] = storeShares.map(share => Math.floor((units * share) / 100))
  return [units - otherUnits.reduce((sum, part) => sum + part, 0), ...otherUnits]
}
