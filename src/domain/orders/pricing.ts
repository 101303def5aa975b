import { parseAmount } from '../values/money.ts'

/** Parses a validated amount into minor units. Throws if it is invalid. */
export function toMinorUnits(text: string, decimals: number): bigint {
  const parsed = parseAmount(text, decimals)
  if (parsed === undefined) throw new Error('amount was not validated')
  return parsed
}

export const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

/** Returns the value of a line in minor units. Negative if the discounts exceed the price. */
export const computeLineValue = (price: bigint, quantity: number, discounts: readonly bigint[]) =>
  price * BigInt(quantity) - sum(discounts)

/** Returns the amount due of an order: lines, freight and taxes on top of the prices. */
export const computeAmountDue = (lineValues: readonly bigint[], freight: bigint, taxes: readonly bigint[]) =>
  sum(lineValues) + freight + sum(taxes)

/** A line whose units are shipped and cancelled step by step. Amounts in minor units. */
interface DividedLine {
  value: bigint
  quantity: number
  shipped: number
  cancelled: number
  cancelledValue: bigint
}

const computeShare = ({ value, quantity }: DividedLine, units: number) => (value * BigInt(units)) / BigInt(quantity)

/** Returns the amount paid for the next `count` open units of a line. The amounts of all units of a line total exactly its value. */
export function computeUnitsValue(line: DividedLine, count: number): bigint {
  const done = line.shipped + line.cancelled
  return computeShare(line, done + count) - computeShare(line, done)
}

/** Returns the amount paid for the shipped units of a line. */
export const computeShippedValue = (line: DividedLine) =>
  computeShare(line, line.shipped + line.cancelled) - line.cancelledValue

/** A paid line with its returns so far. Amounts in minor units. */
interface PaidLine {
  value: bigint
  quantity: number
  returned: number
  refunded: bigint
}

/**
 * Returns the refund for `count` further units of a line: their share of the amount paid, rounded down. All returns of a line together
 * refund exactly the amount paid. Even after a cancelled return, the refund is never negative and never more than the price of the units.
 */
export function computeRefund({ value, quantity, returned, refunded }: PaidLine, count: number): bigint {
  const [total, units] = [BigInt(quantity), BigInt(count)]
  const share = (value * BigInt(returned + count)) / total - refunded
  const maximum = ((value + total - 1n) / total) * units
  if (share <= 0n) return 0n
  return share < maximum || returned + count === quantity ? share : maximum
}
