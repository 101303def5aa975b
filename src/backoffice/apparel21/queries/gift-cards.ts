import { ttlMap } from '../../../concurrency/ttl-cache.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import type { Client } from '../client/client.ts'
import { parseFreeStock } from '../mapping/stock.ts'
import { findElements, readDecimal, readText } from '../xml/values.ts'

/** The SKU and voucher type that vouchers are sold as. */
export interface GiftCard {
  skuId: string
  /** The product of the SKU, if known. */
  productId: string | undefined
  /** True if a store has had the SKU in stock. */
  wasInStock: boolean
  voucherType: string
}

/** Checks the gift card settings of a service against the back office. */
export interface GiftCardChecker {
  /** Returns the errors of the settings. A result without errors is cached for ten minutes. */
  check(card: GiftCard): Promise<FieldError[]>
}

/** The reference type of voucher types, with the same identifier in all known installations. `code` is checked before it is trusted. */
const voucherTypes = { id: '368', code: 'retvouch' }
/** Milliseconds for which a result without errors is cached. */
const validTtlMs = 600_000

export function createGiftCardChecker(client: Client): GiftCardChecker {
  const valid = ttlMap<true>({ ttlMs: validTtlMs })
  return {
    async check(card) {
      const key = `${card.skuId} ${card.voucherType}`
      if (valid.get(key)) return []
      const errors = (await Promise.all([checkVoucherType(client, card), checkSku(client, card)])).flat()
      if (errors.length) valid.delete(key)
      else valid.set(key, true)
      return errors
    },
  }
}

const toFieldError = (detail: string): FieldError => ({ code: 'voucher_not_configured', detail })

async function checkVoucherType(client: Client, { voucherType }: GiftCard): Promise<FieldError[]> {
  const roots = ['ReferencesbyType', 'ReferencesByType']
  const root = await client.document({ endpoint: 'references', path: ['References', voucherTypes.id], roots })
  if (readText(root, 'ReferenceTypeCode')?.toLowerCase() !== voucherTypes.code) return []
  const codes = findElements(root, 'References', 'Reference').flatMap(reference => readText(reference, 'Code') ?? [])
  if (codes.includes(voucherType)) return []
  const validTypes = codes.map(code => `\`${code}\``).join(', ')
  return [
    toFieldError(
      `The setting \`voucherType\` is \`${voucherType}\`; it must be one of the back office's voucher types: ${validTypes}.`,
    ),
  ]
}

/**
 * Checks that the SKU is a gift voucher. The Retail API doesn't show this, but a voucher has no stock and no price of its own. A SKU that
 * is or was in stock counts as merchandise, unless its price is known to be 0. Otherwise it would be sold as a voucher and shipped.
 */
async function checkSku(client: Client, card: GiftCard): Promise<FieldError[]> {
  const { skuId, wasInStock } = card
  if (!(wasInStock || (await isInStock(client, skuId))) || (await fetchPrice(client, card)) === '0') return []
  return [
    toFieldError(
      `The setting \`giftCardSku\` must name a gift voucher; SKU \`${skuId}\` of the back office has stock and a price.`,
    ),
  ]
}

async function isInStock(client: Client, skuId: string): Promise<boolean> {
  const roots = ['Sku', 'Clr', 'Style']
  const stock = await client.document({ endpoint: 'stock', path: ['Freestock', 'sku', skuId], roots })
  return stock !== undefined && parseFreeStock(stock).rows.some(({ freeStock }) => freeStock > 0)
}

/** Returns the price of a SKU. Returns null if its product is unknown, because a SKU can't be looked up by its identifier. */
async function fetchPrice(client: Client, { skuId, productId }: GiftCard): Promise<string | null> {
  if (productId === undefined) return null
  const product = await client.document({ endpoint: 'products', path: ['Products', productId], roots: ['Product'] })
  const skus = findElements(product, 'Clrs', 'Clr').flatMap(colour => findElements(colour, 'SKUs', 'SKU'))
  return readDecimal(
    skus.find(sku => readText(sku, 'Id') === skuId),
    'Price',
  )
}
