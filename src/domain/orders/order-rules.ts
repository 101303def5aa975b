import { errorCodes, type FieldError } from '../../errors/api-error.ts'
import { formatAmount } from '../values/money.ts'
import type { OrderInput } from './orders.ts'
import { computeAmountDue, computeLineValue, sum, toMinorUnits } from './pricing.ts'

/** The stored data that an order refers to. */
export interface OrderFacts {
  /** True if the customer exists. */
  customer: boolean
  /** True if the pick-up store exists. */
  store: boolean
  /** True if another order has the number. */
  numberTaken: boolean
  gateways: readonly string[]
  /** The back office's ID of the gift card SKU, if there is one. */
  giftCardSkuId: string | undefined
  /** The ordered variants by SKU. Unit prices with the currency's decimals. */
  variants: ReadonlyMap<string, { skuId: string; price: string; allowBackorder?: boolean }>
  /** True if the prices of the lines are those of a quote. */
  isQuoted?: boolean
  /** The refund of a return that pays for the order first, in minor units. */
  availableCredit?: bigint
}

/** A priced order. Amounts in minor units, lines in the order of the input. */
export interface PricedOrder {
  errors: FieldError[]
  lines: { price: bigint; value: bigint }[]
  freight: bigint
  total: bigint
  /** The part of the total that a return pays. */
  credit: bigint
}

/** Computes an order from the current prices and validates it. Errors of the request (422) come before conflicts (409). */
export function priceOrder(input: OrderInput, facts: OrderFacts, currency: string, decimals: number): PricedOrder {
  const errors: FieldError[] = []
  const addError = (pointer: string, detail: string, code: FieldError['code'] = 'invalid_field') =>
    errors.push({ pointer, code, detail })
  const formatMinor = (minor: bigint) => `${formatAmount(minor, decimals)} ${currency}`

  if (!facts.customer) errors.push(customerNotFound(input.customerId))
  if (!facts.store) addError('/pickupStoreNumber', `Store ${input.pickupStoreNumber} not found.`)

  const { errors: lineErrors, lines } = priceLines(input.lines, facts, currency, decimals)
  errors.push(...lineErrors)

  errors.push(...checkPayments(input.payments, facts, decimals))

  const freight = toMinorUnits(input.freight ?? formatAmount(0n, decimals), decimals)
  const values = lines.map(line => line.value)
  const taxes = (input.taxLines ?? []).map(({ amount }) => toMinorUnits(amount, decimals))
  const total = computeAmountDue(values, freight, taxes)
  const { availableCredit = 0n } = facts
  const credit = availableCredit < total ? availableCredit : total
  const due = total - credit
  const paid = sum(input.payments.map(payment => toMinorUnits(payment.amount, decimals)))
  // If a line is invalid, the total is unknown.
  if (lines.length === input.lines.length && paid !== due) {
    const hint = paid > due && !input.taxLines ? ' Tax on top of the prices belongs in `taxLines`.' : ''
    addError(
      '/payments',
      `The payments must total ${formatMinor(due)}; they total ${formatMinor(paid)}.${hint}`,
      'payment_total_mismatch',
    )
  }
  if (facts.numberTaken)
    errors.push(orderNumberTaken('/orderNumber', `Order number ${input.orderNumber} is already used.`))

  return { errors: sortErrors(errors), lines, freight, total, credit }
}

/** Returns the errors of single payments: unknown gateways, and vouchers that pay nothing or twice. */
function checkPayments(
  payments: OrderInput['payments'],
  { gateways }: Pick<OrderFacts, 'gateways'>,
  decimals: number,
): FieldError[] {
  const errors: FieldError[] = []
  const addError = (pointer: string, detail: string, code: FieldError['code'] = 'invalid_field') =>
    errors.push({ pointer, code, detail })
  const vouchers = new Set<string>()
  for (const [i, { gateway, amount, voucher }] of payments.entries()) {
    if (!gateways.includes(gateway))
      addError(
        `/payments/${i}/gateway`,
        `Gateway ${gateway} not found; ${formatGateways(gateways)}.`,
        'unknown_gateway',
      )
    if (!voucher) continue
    if (toMinorUnits(amount, decimals) === 0n)
      addError(`/payments/${i}/amount`, 'The amount of a voucher payment must be greater than 0.')
    if (vouchers.has(voucher.number))
      addError(`/payments/${i}/voucher/number`, `Voucher ${voucher.number} can't pay twice. Merge the two payments.`)
    vouchers.add(voucher.number)
  }
  return errors
}

/** Computes the lines of an order or a quote from the current prices, or from the prices of the lines if they are quoted. */
export function priceLines(
  lines: readonly OrderInput['lines'][number][],
  { variants, giftCardSkuId, isQuoted = false }: Pick<OrderFacts, 'variants' | 'giftCardSkuId' | 'isQuoted'>,
  currency: string,
  decimals: number,
): Pick<PricedOrder, 'errors' | 'lines'> {
  const errors: FieldError[] = []
  const addError = (pointer: string, detail: string, code: FieldError['code'] = 'invalid_field') =>
    errors.push({ pointer, code, detail })
  const formatMinor = (minor: bigint) => `${formatAmount(minor, decimals)} ${currency}`
  const priced: PricedOrder['lines'] = []
  for (const [i, { sku, quantity, price: requestedPrice, discounts }] of lines.entries()) {
    const variant = variants.get(sku)
    if (!variant) {
      addError(`/lines/${i}/sku`, `SKU ${sku} not found.`, 'unknown_sku')
      continue
    }
    if (variant.skuId === giftCardSkuId)
      addError(`/lines/${i}/sku`, `${sku} is the gift card, which can't be ordered. Use \`POST /vouchers\` instead.`)
    const price = toMinorUnits(isQuoted && requestedPrice ? requestedPrice : variant.price, decimals)
    if (typeof requestedPrice === 'string' && toMinorUnits(requestedPrice, decimals) !== price)
      addError(`/lines/${i}/price`, `The price of ${sku} must be ${formatMinor(price)}.`)
    for (const [at, { percentage }] of (discounts ?? []).entries())
      if (Number(percentage ?? 0) > 100)
        addError(`/lines/${i}/discounts/${at}/percentage`, '`percentage` must be at most 100.')
    const discounted = (discounts ?? []).map(discount => toMinorUnits(discount.amount, decimals))
    const value = computeLineValue(price, quantity, discounted)
    if (value >= 0n) priced.push({ price, value })
    else
      addError(
        `/lines/${i}/discounts`,
        `The discounts of ${sku} must be at most ${formatMinor(value + sum(discounted))}, the value of the line.`,
      )
  }
  return { errors, lines: priced }
}

/**
 * Returns an error for each SKU of which more units are ordered than can be sold, unless it can be backordered. `sellable`: the units by
 * SKU ID.
 */
export function checkStock(
  lines: OrderInput['lines'],
  sellable: ReadonlyMap<string, number>,
  variants: ReadonlyMap<string, { skuId: string; allowBackorder?: boolean }>,
): FieldError[] {
  const requestedUnits = countUnits(lines)
  return lines.flatMap(({ sku }, i): FieldError[] => {
    const { skuId = '', allowBackorder = false } = variants.get(sku) ?? {}
    const [available, requested] = [sellable.get(skuId) ?? 0, requestedUnits.get(sku) ?? 0]
    if (allowBackorder || requested <= available) return []
    const detail = `${requested} of ${sku} were ordered, but only ${available} can be sold.`
    return [{ pointer: `/lines/${i}/quantity`, code: 'insufficient_stock', detail, available, requested }]
  })
}

/** Returns the units of each SKU over all lines. */
export function countUnits(lines: OrderInput['lines']): Map<string, number> {
  const units = new Map<string, number>()
  for (const { sku, quantity } of lines) units.set(sku, (units.get(sku) ?? 0) + quantity)
  return units
}

export const customerNotFound = (id: string): FieldError => ({
  pointer: '/customerId',
  code: 'invalid_field',
  detail: `Customer ${id} not found.`,
})

export const orderNumberTaken = (pointer: string, detail: string): FieldError => ({
  pointer,
  code: 'order_number_taken',
  detail,
})

/** Sorts errors: invalid requests (422) first, then conflicts (409). */
export const sortErrors = (errors: readonly FieldError[]): FieldError[] =>
  errors.toSorted((a, b) => errorCodes[b.code].status - errorCodes[a.code].status)

const formatGateways = (names: readonly string[]) =>
  names.length ? `use one of ${names.join(', ')}` : 'this service has none yet'
