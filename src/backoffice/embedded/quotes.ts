import { customerNotFound, priceLines, sortErrors } from '../../domain/orders/order-rules.ts'
import { createQuote } from '../../domain/orders/quotes.ts'
import { formatAmount, getDecimals } from '../../domain/values/money.ts'
import type { FieldError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { findCustomer } from '../../store/customers/customers.ts'
import { findVariants } from '../../store/orders/place.ts'
import type { QuoteReads } from '../port/quotes.ts'
import { findGiftCardSkuId } from '../vouchers/gift-card.ts'

export const noFreightOptionsReason =
  'The embedded back office has no freight options. Send the delivery charge as `freight`.'

/** Prices a cart from our own tables, by the rules of an order. There are no promotions, only the discounts of the request. */
export const quoteOrder: QuoteReads['quoteOrder'] = async ({ read, keys, service }, input) => {
  const { currency } = service.settings
  const decimals = getDecimals(currency)
  const skus = input.lines.map(line => line.sku)
  const [variants, customer, giftCardSkuId] = await read(db =>
    Promise.all([
      findVariants(db, service, skus, decimals),
      input.customerId ? findCustomer(db, service, input.customerId) : undefined,
      findGiftCardSkuId(db, service),
    ]),
  )
  const variantsBySku = new Map(variants.map(variant => [variant.sku, variant]))
  const { errors } = priceLines(input.lines, { variants: variantsBySku, giftCardSkuId }, currency, decimals)
  const further: FieldError[] = []
  if (input.customerId && !customer) further.push(customerNotFound(input.customerId))
  if (input.freightOptionId)
    further.push({ pointer: '/freightOptionId', code: 'capability_unavailable', detail: noFreightOptionsReason })
  throwIfAny(sortErrors([...further, ...errors]))
  const content = {
    customerId: input.customerId ?? null,
    lines: input.lines.map(line => ({
      ...line,
      price: variantsBySku.get(line.sku)?.price ?? '',
      discounts: line.discounts ?? [],
    })),
    freight: input.freight ?? formatAmount(0n, decimals),
  }
  return createQuote(keys, service, content, [])
}
