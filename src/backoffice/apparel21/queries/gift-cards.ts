import { ttlMap } from '../../../concurrency/ttl-cache.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import type { Client } from '../client/client.ts'
import { freeStockFrom } from '../mapping/stock.ts'
import { decimal, every, text } from '../xml/values.ts'

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
export interface GiftCards {
  /** Why no voucher can be sold so, naming the setting. What is sound counts for some minutes. */
  faultsOf(card: GiftCard): Promise<FieldError[]>
}

/** Retail voucher types, in every installation that is known; `code` is what the type has to be called to be believed. */
const voucherTypes = { id: '368', code: 'retvouch' }
/** Milliseconds. */
const soundMs = 600_000

export function openGiftCards(client: Client): GiftCards {
  const sound = ttlMap<true>({ ttlMs: soundMs })
  return {
    async faultsOf(card) {
      const key = `${card.skuId} ${card.voucherType}`
      if (sound.get(key)) return []
      const faults = (await Promise.all([faultsOfType(client, card), faultsOfSku(client, card)])).flat()
      if (faults.length) sound.delete(key)
      else sound.set(key, true)
      return faults
    },
  }
}

const fault = (detail: string): FieldError => ({ code: 'voucher_not_configured', detail })

async function faultsOfType(client: Client, { voucherType }: GiftCard): Promise<FieldError[]> {
  const roots = ['ReferencesbyType', 'ReferencesByType']
  const root = await client.document({ endpoint: 'references', path: ['References', voucherTypes.id], roots })
  if (text(root, 'ReferenceTypeCode')?.toLowerCase() !== voucherTypes.code) return []
  const codes = every(root, 'References', 'Reference').flatMap(reference => text(reference, 'Code') ?? [])
  if (codes.includes(voucherType)) return []
  const known = codes.map(code => `\`${code}\``).join(', ')
  return [
    fault(
      `The back office has no type of voucher \`${voucherType}\`, which the setting \`voucherType\` names: ${known}.`,
    ),
  ]
}

/**
 * Nothing says of a SKU that it is a gift voucher. But a voucher costs what its buyer says, and lies on no shelf: what is or was in stock
 * is goods, unless it is known to have no price of its own. As a voucher it would be sold, and come as a parcel.
 */
async function faultsOfSku(client: Client, card: GiftCard): Promise<FieldError[]> {
  const { skuId, wasInStock } = card
  if (!(wasInStock || (await isInStock(client, skuId))) || (await priceOf(client, card)) === '0') return []
  return [
    fault(
      `The setting \`giftCardSku\` names SKU \`${skuId}\` of the back office, which is no gift voucher there: it is kept in stock, at a price of its own.`,
    ),
  ]
}

async function isInStock(client: Client, skuId: string): Promise<boolean> {
  const roots = ['Sku', 'Clr', 'Style']
  const found = await client.document({ endpoint: 'stock', path: ['Freestock', 'sku', skuId], roots })
  return found !== undefined && freeStockFrom(found).rows.some(({ freeStock }) => freeStock > 0)
}

/** What a SKU costs; null where that cannot be found out: there is no look-up of one by its identifier alone. */
async function priceOf(client: Client, { skuId, productId }: GiftCard): Promise<string | null> {
  if (productId === undefined) return null
  const product = await client.document({ endpoint: 'products', path: ['Products', productId], roots: ['Product'] })
  const skus = every(product, 'Clrs', 'Clr').flatMap(colour => every(colour, 'SKUs', 'SKU'))
  return decimal(
    skus.find(sku => text(sku, 'Id') === skuId),
    'Price',
  )
}
