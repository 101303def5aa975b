import type { Db } from '../../database/db.ts'
import { customerNotFound, priceLines } from '../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../domain/orders/orders.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getDecimals } from '../../domain/values/money.ts'
import type { FieldError } from '../../errors/api-error.ts'
import { findCustomer } from '../../store/customers/customers.ts'
import { findVariants, type SoldVariant } from '../../store/orders/place.ts'

interface Cart {
  customerId?: string | null
  lines: readonly Pick<OrderInput['lines'][number], 'sku' | 'quantity' | 'discounts'>[]
}

/**
 * Finds the SKUs of a cart, and returns the errors of an order with these lines and this customer. `findGiftCard` returns the SKU ID that
 * can't be ordered.
 */
export async function loadCart(
  db: Db,
  service: Service,
  { customerId, lines }: Cart,
  findGiftCard: (db: Db, service: Service) => Promise<string | undefined>,
): Promise<{ variants: ReadonlyMap<string, SoldVariant>; errors: FieldError[] }> {
  const { currency } = service.settings
  const decimals = getDecimals(currency)
  const [soldVariants, customer, giftCardSkuId] = await Promise.all([
    findVariants(
      db,
      service,
      lines.map(({ sku }) => sku),
      decimals,
    ),
    customerId ? findCustomer(db, service, customerId) : undefined,
    findGiftCard(db, service),
  ])
  const variants = new Map(soldVariants.map(variant => [variant.sku, variant]))
  const { errors } = priceLines(lines, { variants, giftCardSkuId }, currency, decimals)
  return { variants, errors: customerId && !customer ? [customerNotFound(customerId), ...errors] : errors }
}

/** Returns the back office's identifier of each SKU. */
export const toSkuIds = (variants: ReadonlyMap<string, SoldVariant>): ReadonlyMap<string, string> =>
  new Map([...variants].map(([sku, { skuId }]) => [sku, skuId]))
