import { randomInt } from 'node:crypto'
import { sortErrors } from '../../../domain/orders/order-rules.ts'
import { createQuote } from '../../../domain/orders/quotes.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import { ApiError, toApiError } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { loadCart, toSkuIds } from '../../orders/cart.ts'
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
    const decimals = getDecimals(service.settings.currency)
    const cart = await read(db => loadCart(db, service, input, resolveGiftCardSkuId))
    // A stored price can be some minutes old, so only the back office decides if a discount exceeds it.
    const errors = cart.errors.filter(({ pointer }) => !pointer?.endsWith('/discounts'))
    if (input.freight && input.freightOptionId)
      errors.push({
        pointer: '/freight',
        code: 'invalid_field',
        detail: "`freight` can't be sent with `freightOptionId`: the back office sets the price of the option.",
      })
    throwIfAny(sortErrors(errors))
    const skuIds = toSkuIds(cart.variants)
    const root = await client.document({
      endpoint: 'carts',
      method: 'PUT',
      path: ['Carts', randomInt(1, 2 ** 31)],
      body: buildCartPayload(input, skuIds),
      roots: ['Cart'],
    })
    if (!root) throw new ApiError('back_office_error')
    const priced = parseOrThrow(client, () => parseCart(root, input, skuIds, decimals))
    const { freightOptionId } = input
    if (freightOptionId && priced.freightOption?.id !== freightOptionId)
      throw toApiError([
        {
          pointer: '/freightOptionId',
          code: 'invalid_field',
          detail: `Freight option ${freightOptionId} not found; use one of ${priced.freightOptions.map(({ id }) => id).join(', ') || 'none'}.`,
        },
      ])
    const freightOption = freightOptionId ? priced.freightOption : undefined
    const content = {
      customerId: input.customerId ?? null,
      lines: priced.lines,
      freight: freightOption?.amount ?? input.freight ?? formatAmount(0n, decimals),
      ...(freightOption && { freightOption: { id: freightOption.id, name: freightOption.name } }),
    }
    return createQuote(keys, service, content, priced.freightOptions)
  },

  async listFreightOptions() {
    if (!(await release.hasOrThrow('freightOptions'))) return []
    const request = { endpoint: 'freightOptions', path: ['FreightOptions'], version: 4 } as const
    return parseFreightOptions(await client.document({ ...request, roots: ['FreightOptions'] }))
  },
})
