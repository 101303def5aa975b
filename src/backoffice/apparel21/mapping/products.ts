import type { SyncRows } from '../../../domain/sync/port.ts'
import { Untranslatable } from '../xml/untranslatable.ts'
import { every, money, text, wallIn, whole } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { referenceValues } from './references.ts'

interface ProductReading {
  typeNames: ReadonlyMap<string, string>
  /** Decimals of the currency. */
  decimals: number
}

type Rows = SyncRows['products']

export const productIdOf = (product: Xml): string => {
  const id = text(product, 'Id')
  if (!id) throw new Untranslatable('A product has no Id.')
  return id
}

export const productChangedAt = (product: Xml) => wallIn(text(product, 'UpdateTimeStamp'))

/** The identifiers of the SKUs that a product has. */
export const skuIdsOf = (product: Xml) =>
  every(product, 'Clrs', 'Clr').flatMap(colour => every(colour, 'SKUs', 'SKU').flatMap(sku => text(sku, 'Id') ?? []))

/** One row a SKU. The e-commerce SKU is left to the mapping. SKUs that cannot be sold, for want of a price, are rejected one by one. */
export function productRowsFrom(
  product: Xml,
  { typeNames, decimals }: ProductReading,
): { rows: Rows[]; rejected: string[] } {
  const productId = productIdOf(product)
  const productCode = text(product, 'Code') ?? productId
  const shared: Rows['product'] = {
    productId,
    productCode,
    name: text(product, 'Name') ?? productCode,
    description: text(product, 'Description'),
    sizeRange: text(product, 'SizeRange'),
    referenceValues: referenceValues(product, typeNames),
  }
  const rows: Rows[] = []
  const rejected: string[] = []
  for (const colour of every(product, 'Clrs', 'Clr'))
    for (const sku of every(colour, 'SKUs', 'SKU')) {
      const [colourId, skuId, price] = [text(colour, 'Id'), text(sku, 'Id'), money(sku, decimals, 'Price')]
      if (!colourId || !skuId || price === null || price.startsWith('-')) {
        rejected.push('A SKU has no identifier, no colour or no price.')
        continue
      }
      const original = money(sku, decimals, 'OriginalPrice')
      rows.push({
        product: shared,
        colour: {
          productId,
          colourId,
          code: text(colour, 'Code'),
          name: text(colour, 'Name'),
          markdownStatus: markdowns[text(colour, 'MarkdownStatus')?.toLowerCase() ?? ''] ?? 'none',
        },
        variant: {
          productId,
          colourId,
          skuId,
          price,
          sizeCode: text(sku, 'SizeCode') ?? '-',
          sequence: whole(sku, 'Sequence'),
          originalPrice: original === null || original.startsWith('-') ? price : original,
          barcode: text(sku, 'Barcode'),
        },
      })
    }
  if (!rows.length && !rejected.length) rejected.push('A product has no SKU.')
  return { rows, rejected }
}

/** A permanent markdown does not end: it clears the stock. */
const markdowns: Readonly<Record<string, 'none' | 'markdown' | 'clearance'>> = {
  temporary: 'markdown',
  permanent: 'clearance',
  temppermanent: 'clearance',
}
