import { ttlMap } from '../../../concurrency/ttl-cache.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import type { Client } from '../client/client.ts'
import { parseFreeStock } from '../mapping/stock.ts'
import { findElements, readDecimal, readText } from '../xml/values.ts'

/** What vouchers are to be sold as. */
export interface GiftCard {
  skuId: string
  /** The product that has the SKU, where one is known that has it. */
  productId: string | undefined
  /** Whether any store is known to have had it in stock. */
  wasInStock: boolean
  voucherType: string
}

/** What head office says of the SKU and of the type of voucher that a service is set to. */
export interface GiftCardChecker {
  /** Why no voucher can be sold so, naming the setting. What is sound counts for some minutes. */
  check(card: GiftCard): Promise<FieldError[]>
}

/** Retail voucher types, in every installation that is known; `code` is what the type has to be called to be believed. */
const voucherTypes = { id: '368', code: 'retvouch' }
/** Milliseconds. */
const validTtlMs = 600_000

export function createGiftCardChecker(client: Client): GiftCardChecker {
  const sound = ttlMap<true>({ ttlMs: validTtlMs })
  return {
    async check(card) {
      const key = `${card.skuId} ${card.voucherType}`
      if (sound.get(key)) return []
      const faults = (await Promise.all([checkVoucherType(client, card), checkSku(client, card)])).flat()
      if (faults.length) sound.delete(key)
      else sound.set(key, true)
      return faults
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
  const known = codes.map(code => `\`${code}\``).join(', ')
  return [
    toFieldError(
      `The back office has no type of voucher \`${voucherType}\`, which the setting \`voucherType\` names: ${known}.`,
    ),
  ]
}

/**
 * Nothing says of a SKU that it is a gift voucher. But a voucher costs what its buyer says, and lies on no shelf: what is or was in stock
 * is goods, unless it is known to have no price of its own. As a voucher it would be sold, and come as a parcel.
 */
async function checkSku(client: Client, card: GiftCard): Promise<FieldError[]> {
  const { skuId, wasInStock } = card
  if (!(wasInStock || (await isInStock(client, skuId))) || (await fetchPrice(client, card)) === '0') return []
  return [
    toFieldError(
      `The setting \`giftCardSku\` names SKU \`${skuId}\` of the back office, which is no gift voucher there: it is kept in stock, at a price of its own.`,
    ),
  ]
}

async function isInStock(client: Client, skuId: string): Promise<boolean> {
  const roots = ['Sku', 'Clr', 'Style']
  const found = await client.document({ endpoint: 'stock', path: ['Freestock', 'sku', skuId], roots })
  return found !== undefined && parseFreeStock(found).rows.some(({ freeStock }) => freeStock > 0)
}

/** What a SKU costs; null where that cannot be found out: there is no look-up of one by its identifier alone. */
async function fetchPrice(client: Client, { skuId, productId }: GiftCard): Promise<string | null> {
  if (productId === undefined) return null
  const product = await client.document({ endpoint: 'products', path: ['Products', productId], roots: ['Product'] })
  const skus = findElements(product, 'Clrs', 'Clr').flatMap(colour => findElements(colour, 'SKUs', 'SKU'))
  return readDecimal(
    skus.find(sku => readText(sku, 'Id') === skuId),
    'Price',
  )
}
