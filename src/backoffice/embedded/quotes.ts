import { sortErrors } from '../../domain/orders/order-rules.ts'
import { createQuote } from '../../domain/orders/quotes.ts'
import { formatAmount, getDecimals } from '../../domain/values/money.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { loadCart } from '../orders/cart.ts'
import type { QuoteReads } from '../port/quotes.ts'
import { findGiftCardSkuId } from '../vouchers/gift-card.ts'

export const noFreightOptionsReason =
  'The embedded back office has no freight options. Send the delivery charge as `freight`.'

/** Prices a cart from our own tables, by the rules of an order. There are no promotions, only the discounts of the request. */
export const quoteOrder: QuoteReads['quoteOrder'] = async ({ read, keys, service }, input) => {
  const { variants, errors } = await read(db => loadCart(db, service, input, findGiftCardSkuId))
  if (input.freightOptionId)
    errors.push({ pointer: '/freightOptionId', code: 'capability_unavailable', detail: noFreightOptionsReason })
  throwIfAny(sortErrors(errors))
  const content = {
    customerId: input.customerId ?? null,
    lines: input.lines.map(line => ({
      ...line,
      price: variants.get(line.sku)?.price ?? '',
      discounts: line.discounts ?? [],
    })),
    freight: input.freight ?? formatAmount(0n, getDecimals(service.settings.currency)),
  }
  return createQuote(keys, service, content, [])
}
