import { catalogue, type Fault } from '../../errors/api-error.ts'
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
  faults: Fault[]
  lines: { price: bigint; value: bigint }[]
  freight: bigint
  total: bigint
}

/** Works an order out from the prices that are in force, and finds every fault in it: what is wrong in itself before what is taken. */
export function priceOrder(input: OrderInput, known: KnownToOrder, currency: string, decimals: number): Priced {
  const faults: Fault[] = []
  const fault = (pointer: string, detail: string, code: Fault['code'] = 'invalid_field') =>
    faults.push({ pointer, code, detail })
  const shown = (minor: bigint) => `${amount(minor, decimals)} ${currency}`

  if (!known.customer) faults.push(noCustomer(input.customerId))
  if (!known.store) fault('/pickupStoreNumber', `There is no store ${input.pickupStoreNumber}.`)

  const lines: Priced['lines'] = []
  for (const [i, { sku, quantity, price: given, discounts }] of input.lines.entries()) {
    const variant = known.variants.get(sku)
    if (!variant) {
      fault(`/lines/${i}/sku`, `There is no SKU ${sku}.`, 'unknown_sku')
      continue
    }
    if (variant.skuId === known.giftCardSkuId)
      fault(`/lines/${i}/sku`, `${sku} is the gift card: \`POST /vouchers\` sells it.`)
    const price = units(variant.price, decimals)
    if (typeof given === 'string' && units(given, decimals) !== price)
      fault(`/lines/${i}/price`, `The price of ${sku} is ${shown(price)}.`)
    const discounted = (discounts ?? []).map(discount => units(discount.amount, decimals))
    const value = lineValue(price, quantity, discounted)
    if (value >= 0n) lines.push({ price, value })
    else
      fault(
        `/lines/${i}/discounts`,
        `The discounts are more than the ${shown(value + sum(discounted))} that ${sku} costs.`,
      )
  }

  const vouchers = new Set<string>()
  for (const [i, { gateway, amount: paid, voucher }] of input.payments.entries()) {
    if (!known.gateways.includes(gateway))
      fault(`/payments/${i}/gateway`, `There is no gateway ${gateway}; ${listed(known.gateways)}.`, 'unknown_gateway')
    if (!voucher) continue
    if (units(paid, decimals) === 0n) fault(`/payments/${i}/amount`, 'A voucher pays more than nothing.')
    if (vouchers.has(voucher.number))
      fault(`/payments/${i}/voucher/number`, `The voucher ${voucher.number} pays twice; pay with it once.`)
    vouchers.add(voucher.number)
  }

  const freight = units(input.freight ?? amount(0n, decimals), decimals)
  const values = lines.map(line => line.value)
  const total = amountDue(values, freight)
  const paid = sum(input.payments.map(payment => units(payment.amount, decimals)))
  // What is due is not known while a line is not.
  if (lines.length === input.lines.length && paid !== total)
    fault('/payments', `${shown(total)} are due, and ${shown(paid)} are paid.`, 'payment_total_mismatch')
  if (known.numberTaken) faults.push(numberTaken('/orderNumber', `There is an order ${input.orderNumber} already.`))

  return { faults: inOrder(faults), lines, freight, total }
}

export const noCustomer = (id: string): Fault => ({
  pointer: '/customerId',
  code: 'invalid_field',
  detail: `There is no customer ${id}.`,
})

export const numberTaken = (pointer: string, detail: string): Fault => ({ pointer, code: 'order_number_taken', detail })

/** What is wrong in the request itself (422) leads, what others have done (409) follows. */
export const inOrder = (faults: readonly Fault[]): Fault[] =>
  faults.toSorted((a, b) => catalogue[b.code][0] - catalogue[a.code][0])

const listed = (names: readonly string[]) =>
  names.length ? `there are ${names.join(', ')}` : 'this service has none yet'
