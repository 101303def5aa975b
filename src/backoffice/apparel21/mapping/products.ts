import type { SyncRows } from '../../../domain/sync/port.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElements, parseLocalTime, readAmount, readDate, readInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { readReferenceValues } from './references.ts'

interface ProductContext {
  typeNames: ReadonlyMap<string, string>
  /** The currency's number of decimal places. */
  decimals: number
}

/** The rows of one SKU: its product, colour and variant. */
type ProductRows = SyncRows['products']

export const readProductId = (product: Xml): string => {
  const id = readText(product, 'Id')
  if (!id) throw new InvalidRecord('A product has no Id.')
  return id
}

export const readProductChangedAt = (product: Xml, timeZone: string) =>
  parseLocalTime(readText(product, 'UpdateTimeStamp'), timeZone)

/** Returns the identifiers of a product's SKUs. */
export const readSkuIds = (product: Xml) =>
  findElements(product, 'Clrs', 'Clr').flatMap(colour =>
    findElements(colour, 'SKUs', 'SKU').flatMap(sku => readText(sku, 'Id') ?? []),
  )

/**
 * Parses a product, one entry per SKU, without the platform's SKU, which the mapping assigns. A SKU without an identifier, a colour or a price
 * is rejected. All other SKUs are returned.
 */
export function parseProduct(
  product: Xml,
  { typeNames, decimals }: ProductContext,
): { rows: ProductRows[]; rejected: string[] } {
  const productId = readProductId(product)
  const productCode = readText(product, 'Code') ?? productId
  const shared: ProductRows['product'] = {
    productId,
    productCode,
    name: readText(product, 'Name') ?? productCode,
    description: readText(product, 'Description'),
    sizeRange: readText(product, 'SizeRange'),
    referenceValues: readReferenceValues(product, typeNames),
  }
  const rows: ProductRows[] = []
  const rejected: string[] = []
  for (const colour of findElements(product, 'Clrs', 'Clr'))
    for (const sku of findElements(colour, 'SKUs', 'SKU')) {
      const colourId = readText(colour, 'Id')
      const skuId = readText(sku, 'Id')
      const price = readAmount(sku, decimals, 'Price')
      if (!colourId || !skuId || price === null || price.startsWith('-')) {
        rejected.push('A SKU has no identifier, no colour or no price.')
        continue
      }
      const original = readAmount(sku, decimals, 'OriginalPrice')
      rows.push({
        product: shared,
        colour: {
          productId,
          colourId,
          code: readText(colour, 'Code'),
          name: readText(colour, 'Name'),
          markdownStatus: markdownStatuses[readText(colour, 'MarkdownStatus')?.toLowerCase() ?? ''] ?? 'none',
        },
        variant: {
          productId,
          colourId,
          skuId,
          price,
          sizeCode: readText(sku, 'SizeCode') ?? '-',
          sequence: readInteger(sku, 'Sequence'),
          originalPrice: original === null || original.startsWith('-') ? price : original,
          barcode: readText(sku, 'Barcode'),
        },
      })
    }
  if (!rows.length && !rejected.length) rejected.push('A product has no SKU.')
  return { rows, rejected }
}

/**
 * Returns the coming prices of each SKU of a style, earliest first. A change without a date or a price is left out. The elements of a style
 * differ from those of a product: `Clr/Sku/SkuId` instead of `Clrs/Clr/SKUs/SKU/Id`.
 */
export const parsePriceChanges = (style: Xml, decimals: number): SyncRows['priceChanges'][] =>
  findElements(style, 'Clr').flatMap(colour =>
    findElements(colour, 'Sku').flatMap(sku => {
      const skuId = readText(sku, 'SkuId')
      const changes = findElements(sku, 'PriceChanges', 'PriceChange').flatMap(change => {
        const [from, price] = [readDate(change, 'FromDate'), readAmount(change, decimals, 'Price')]
        return from && price !== null && !price.startsWith('-') ? [{ from, price }] : []
      })
      return skuId ? [{ skuId, changes: changes.sort((a, b) => a.from.localeCompare(b.from)) }] : []
    }),
  )

/** A permanent markdown is a clearance. */
const markdownStatuses: Readonly<Record<string, 'none' | 'markdown' | 'clearance'>> = {
  temporary: 'markdown',
  permanent: 'clearance',
  temppermanent: 'clearance',
}
