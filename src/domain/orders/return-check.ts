import type { Fault } from '../../errors.ts'
import { inOrder } from './check.ts'
import type { LineStatus } from './orders.ts'
import { refundFor } from './pricing.ts'
import type { ReturnInput } from './returns.ts'

/** A line of the original order. Amounts in minor units. */
export interface SoldLine {
  sequence: number
  sku: string
  status: LineStatus
  quantity: number
  value: bigint
  returned: number
  refunded: bigint
}

/** Units of one line of the order that come back with one line of the return. */
export interface Portion {
  /** Which line of the return. */
  entry: number
  /** Which line of the order. */
  orderSequence: number
  quantity: number
  value: bigint
}

/** Units of a line that can still be returned: what was not shipped was not sold yet. */
const returnable = ({ status, quantity, returned }: SoldLine) =>
  status === 'shipped' || status === 'returned' ? quantity - returned : 0

/**
 * Which lines of the order a return takes from, the first ones first, and every fault in it. SKUs are compared letter by letter;
 * lines with the same SKU are taken together.
 */
export function judgeReturn(
  { lines }: Pick<ReturnInput, 'lines'>,
  order: { number: string; lines: readonly SoldLine[] },
  reasons: readonly string[],
): { faults: Fault[]; portions: Portion[] } {
  const faults: Fault[] = []
  const portions: Portion[] = []
  const left = order.lines.map(line => ({ ...line }))
  const asked = Map.groupBy(lines, line => line.sku)

  for (const [entry, { sku, quantity }] of lines.entries()) {
    const sold = left.filter(line => line.sku === sku)
    if (sold.length === 0) {
      faults.push({
        pointer: `/lines/${entry}/sku`,
        code: 'sku_not_on_order',
        detail: `${sku} is not on order ${order.number}.`,
      })
      continue
    }
    let open = quantity
    for (const line of sold) {
      const count = Math.min(open, returnable(line))
      if (count === 0) continue
      const value = refundFor(line, count)
      portions.push({ entry, orderSequence: line.sequence, quantity: count, value })
      line.returned += count
      line.refunded += value
      open -= count
    }
    if (open === 0) continue
    const most = order.lines.filter(line => line.sku === sku).reduce((sum, line) => sum + returnable(line), 0)
    const wanted = (asked.get(sku) ?? []).reduce((sum, line) => sum + line.quantity, 0)
    const unsent = sold.every(line => line.status === 'processing') ? ', since it has not been shipped' : ''
    faults.push({
      pointer: `/lines/${entry}/quantity`,
      code: 'quantity_exceeds_returnable',
      detail: `Of ${sku} ${most} can be returned${unsent}, not ${wanted}.`,
    })
  }
  for (const [entry, { reasonCode }] of lines.entries())
    if (!reasons.includes(reasonCode))
      faults.push({
        pointer: `/lines/${entry}/reasonCode`,
        code: 'invalid_field',
        detail: reasons.length
          ? `\`reasonCode\` is one of ${reasons.map(code => `\`${code}\``).join(', ')}.`
          : 'This service has no return reasons yet.',
      })
  return { faults: inOrder(faults), portions }
}
