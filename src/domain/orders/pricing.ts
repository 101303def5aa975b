import { minorUnits } from '../values/money.ts'

/** An amount that its shape has passed, in minor units. */
export function units(text: string, decimals: number): bigint {
  const found = minorUnits(text, decimals)
  if (found === undefined) throw new Error('an amount is judged before it is reckoned with')
  return found
}

export const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n)

/** What is paid for a line, in minor units: below zero where the discounts take off more than it costs. */
export const lineValue = (price: bigint, quantity: number, discounts: readonly bigint[]) =>
  price * BigInt(quantity) - sum(discounts)

export const amountDue = (lineValues: readonly bigint[], freight: bigint) => sum(lineValues) + freight

/** A line that was paid for, and what of it came back so far. Amounts in minor units. */
interface Paid {
  value: bigint
  quantity: number
  returned: number
  refunded: bigint
}

/**
 * What is refunded for `count` further units of a line: its share of what was paid, rounded down, such that all of the line in
 * whatever portions comes to exactly what was paid. After a return was cancelled too, never negative, and never more than the units
 * have cost; the last ones are all that is left.
 */
export function refundFor({ value, quantity, returned, refunded }: Paid, count: number): bigint {
  const [all, some] = [BigInt(quantity), BigInt(count)]
  const share = (value * BigInt(returned + count)) / all - refunded
  const most = ((value + all - 1n) / all) * some
  if (share <= 0n) return 0n
  return share < most || returned + count === quantity ? share : most
}
