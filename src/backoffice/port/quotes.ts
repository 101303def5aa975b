import type { Keys } from '../../crypto/keys.ts'
import type { FreightOption } from '../../domain/orders/freight-options.ts'
import type { OrderQuote, OrderQuoteInput } from '../../domain/orders/quotes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Stages } from '../../writes/write.ts'

/** A driver's prices before an order. Nothing is stored. */
export interface QuoteReads {
  /** Prices a cart. Throws all errors of the cart at once. */
  quoteOrder(
    reading: Pick<Stages, 'read'> & { keys: Keys; service: Service },
    input: OrderQuoteInput,
  ): Promise<OrderQuote>
  /** Returns the freight options. The list is empty without the capability `freightOptions`. */
  listFreightOptions(): Promise<FreightOption[]>
}
