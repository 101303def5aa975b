import { randomInt } from 'node:crypto'
import { customerNotFound, priceLines, sortErrors } from '../../../domain/orders/order-rules.ts'
import { createQuote } from '../../../domain/orders/quotes.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import { ApiError, type FieldError, toApiError } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { findCustomer } from '../../../store/customers/customers.ts'
import { findVariants } from '../../../store/orders/place.ts'
import type { QuoteReads } from '../../port/quotes.ts'
import { buildCartPayload, parseCart, parseFreightOptions } from '../mapping/carts.ts'
import { parseOrThrow } from '../queries/adopted-orders.ts'
import type { Upstream } from '../queries/upstream.ts'
import { resolveGiftCardSkuId } from './voucher-sale.ts'

/**
 * Prices a cart by the back office's cart call: current prices, promotions, loyalty and freight. Neither side stores the cart. Our tables
 * only translate the SKUs, so no connection is used during the call.
 */
export const createQuoteReads = ({ client, release }: Upstream): QuoteReads => ({
  async quoteOrder({ read, keys, service }, input) {
    const { currency } = service.settings
    const decimals = getDecimals(currency)
    const skus = input.lines.map(line => line.sku)
    const [variants, customer, giftCardSkuId] = await read(db =>
      Promise.all([
        findVariants(db, service, skus, decimals),
        input.customerId ? findCustomer(db, service, input.customerId) : undefined,
        resolveGiftCardSkuId(db, service),
      ]),
    )
    const variantsBySku = new Map(variants.map(variant => [variant.sku, variant]))
    const { errors } = priceLines(input.lines, { variants: variantsBySku, giftCardSkuId }, currency, decimals)
    // A stored price can be some minutes old, so only the back office decides if a discount exceeds it.
    const known = errors.filter(({ pointer }) => !pointer?.endsWith('/discounts'))
    const missing: FieldError[] = input.customerId && !customer ? [customerNotFound(input.customerId)] : []
    if (input.freight && input.freightOptionId)
      missing.push({
        pointer: '/freight',
        code: 'invalid_field',
        detail: "`freight` can't be sent with `freightOptionId`: the back office sets the price of the option.",
      })
    throwIfAny(sortErrors([...missing, ...known]))
    const skuIds = new Map(variants.map(({ sku, skuId }) => [sku, skuId]))
    const root = await client.document({
      endpoint: 'carts',
      method: 'PUT',
      path: ['Carts', randomInt(1, 2 ** 31)],
      body: buildCartPayload(input, skuIds),
      roots: ['Cart'],
    })
    if (!root) throw new ApiError('back_office_error')
    const cart = parseOrThrow(client, () => parseCart(root, input, skuIds, decimals))
    const { freightOptionId } = input
    if (freightOptionId && cart.freightOption?.id !== freightOptionId)
      throw toApiError([
        {
          pointer: '/freightOptionId',
          code: 'invalid_field',
          detail: `Freight option ${freightOptionId} not found; use one of ${cart.freightOptions.map(({ id }) => id).join(', ') || 'none'}.`,
        },
      ])
    const freightOption = freightOptionId ? cart.freightOption : undefined
    const content = {
      customerId: input.customerId ?? null,
      lines: cart.lines,
      freight: freightOption?.amount ?? input.freight ?? formatAmount(0n, decimals),
      ...(freightOption && { freightOption: { id: freightOption.id, name: freightOption.name } }),
    }
    return createQuote(keys, service, content, cart.freightOptions)
  },

  async listFreightOptions() {
    if (!(await release.hasOrThrow('freightOptions'))) return []
    const request = { endpoint: 'freightOptions', path: ['FreightOptions'], version: 4 } as const
    return parseFreightOptions(await client.document({ ...request, roots: ['FreightOptions'] }))
  },
})
