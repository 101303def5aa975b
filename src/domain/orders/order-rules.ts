import { errorCodes, type FieldError } from '../../errors/api-error.ts'
import { amount } from '../values/money.ts'
import type { OrderInput } from './orders.ts'
import { amountDue, lineValue, sum, units } from './pricing.ts'

/** What is known of what an order names. */
export interface KnownToOrder {
  customer: boolean
  /** Whether the pick-up store exists. */
  store: boolean
  /** Whether another order has the number. */
  numberTaken: boolean
  gateways: readonly string[]
  /** The back office's identifier of the SKU that gift vouchers are sold as, where there is one. */
  giftCardSkuId: string | undefined
  /** What is sold, by SKU; prices of one unit, with the currency's decimals. */
  variants: ReadonlyMap<string, { skuId: string; price: string }>
}

/** An order that has been worked out. Amounts in minor units; lines in the order of the input. */
export interface Priced {
  faults: FieldError[]
  lines: { price: bigint; value: bigint }[]
  freight: bigint
  total: bigint
}

/** Works an order out from the prices that are in force, and finds every fault in it: what is wrong in itself before what is taken. */
export function priceOrder(input: OrderInput, known: KnownToOrder, currency: string, decimals: number): Priced {
  const faults: FieldError[] = []
  const fault = (pointer: string, detail: string, code: FieldError['code'] = 'invalid_field') =>
    faults.push({ pointer, code, detail })
  const shown = (minor: bigint) => `${amount(minor, decimals)} ${currency}`

  if (!known.customer) faults.push(noCustomer(input.customerId))
  if (!known.store) fault('/pickupStoreNumber', `Store ${input.pickupStoreNumber} not found.`)

  const lines: Priced['lines'] = []
  for (const [i, { sku, quantity, price: given, discounts }] of input.lines.entries()) {
    const variant = known.variants.get(sku)
    if (!variant) {
      fault(`/lines/${i}/sku`, `SKU ${sku} not found.`, 'unknown_sku')
      continue
    }
    if (variant.skuId === known.giftCardSkuId)
      fault(`/lines/${i}/sku`, `${sku} is the gift card, which can't be ordered. Use \`POST /vouchers\` instead.`)
    const price = units(variant.price, decimals)
    if (typeof given === 'string' && units(given, decimals) !== price)
      fault(`/lines/${i}/price`, `The price of ${sku} must be ${shown(price)}.`)
    const discounted = (discounts ?? []).map(discount => units(discount.amount, decimals))
    const value = lineValue(price, quantity, discounted)
    if (value >= 0n) lines.push({ price, value })
    else
      fault(
        `/lines/${i}/discounts`,
        `The discounts of ${sku} must be at most ${shown(value + sum(discounted))}, the value of the line.`,
      )
  }

  const vouchers = new Set<string>()
  for (const [i, { gateway, amount: paid, voucher }] of input.payments.entries()) {
    if (!known.gateways.includes(gateway))
      fault(`/payments/${i}/gateway`, `Gateway ${gateway} not found; ${listed(known.gateways)}.`, 'unknown_gateway')
    if (!voucher) continue
    if (units(paid, decimals) === 0n)
      fault(`/payments/${i}/amount`, 'The amount of a voucher payment must be greater than 0.')
    if (vouchers.has(voucher.number))
      fault(`/payments/${i}/voucher/number`, `Voucher ${voucher.number} can't pay twice. Merge the two payments.`)
    vouchers.add(voucher.number)
  }

  const freight = units(input.freight ?? amount(0n, decimals), decimals)
  const values = lines.map(line => line.value)
  const total = amountDue(values, freight)
  const paid = sum(input.payments.map(payment => units(payment.amount, decimals)))
  // What is due is not known while a line is not.
  if (lines.length === input.lines.length && paid !== total)
    fault('/payments', `The payments must total ${shown(total)}; they total ${shown(paid)}.`, 'payment_total_mismatch')
  if (known.numberTaken) faults.push(numberTaken('/orderNumber', `Order number ${input.orderNumber} is already used.`))

  return { faults: inOrder(faults), lines, freight, total }
}

export const noCustomer = (id: string): FieldError => ({
  pointer: '/customerId',
  code: 'invalid_field',
  detail: `Customer ${id} not found.`,
})

export const numberTaken = (pointer: string, detail: string): FieldError => ({
  pointer,
  code: 'order_number_taken',
  detail,
})

/** What is wrong in the request itself (422) leads, what others have done (409) follows. */
export const inOrder = (faults: readonly FieldError[]): FieldError[] =>
  faults.toSorted((a, b) => errorCodes[b.code].status - errorCodes[a.code].status)

const listed = (names: readonly string[]) =>
  names.length ? `use one of ${names.join(', ')}` : 'this service has none yet'
