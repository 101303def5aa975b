import { getDecimals } from '../../../domain/values/money.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { mergeProducts } from '../../../store/catalog/products.ts'
import { findSkus } from '../../../store/catalog/skus.ts'
import type { Write } from '../../../writes/write.ts'
import { parseProduct } from '../mapping/products.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import type { Upstream } from './upstream.ts'

/** Products that are requested for one order. */
const maxProducts = 20

/** True if an order was rejected only for reasons that a changed price explains. */
export const isAboutPrices = (error: ApiError) =>
  (error.errors.length ? error.errors : [error]).every(
    cause =>
      cause.code === 'payment_total_mismatch' ||
      ('pointer' in cause && /^\/lines\/\d+\/price$/.test(cause.pointer ?? '')),
  )

/**
 * Reads the current prices of these SKUs from the back office and stores them, because the sync of changed products is some minutes late.
 * Returns false if no product could be read.
 */
export async function refreshPrices(
  { client, getReferences }: Upstream,
  { service, read, recordFact }: Pick<Write, 'service' | 'read' | 'recordFact'>,
  skus: readonly string[],
): Promise<boolean> {
  const decimals = getDecimals(service.settings.currency)
  const identities = await read(db => findSkus(db, service, [...new Set(skus)]))
  const knownIds = new Set(identities.map(({ skuId }) => skuId))
  const ids = [...new Set(identities.map(({ productId }) => productId))].slice(0, maxProducts)
  const fetchProduct = (id: string) =>
    client.document({ endpoint: 'products', path: ['Products', id], roots: ['Product'] })
  let rows: ReturnType<typeof parseProduct>['rows']
  try {
    const products = (await Promise.all(ids.map(fetchProduct))).filter(product => product !== undefined)
    const typeNames = await (await getReferences()).getNamesFor(products)
    rows = convertRecords(products, product => parseProduct(product, { typeNames, decimals }).rows).rows.flat()
  } catch (error) {
    // The order is rejected with the stored prices.
    if (error instanceof ApiError) return false
    throw error
  }
  if (!rows.length) return false
  const prices = rows
    .filter(({ variant }) => knownIds.has(variant.skuId))
    .map(({ product: { productId }, colour: { colourId }, variant: { skuId, price, originalPrice } }) => ({
      product: { productId },
      colour: { productId, colourId },
      variant: { productId, colourId, skuId, price, originalPrice },
    }))
  await recordFact(async tx => {
    await mergeProducts(tx, service, prices)
  })
  return true
}
