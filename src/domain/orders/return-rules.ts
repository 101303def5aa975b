import type { FieldError } from '../../errors/api-error.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import { inOrder } from './order-rules.ts'
import type { LineStatus } from './orders.ts'
import { refundFor } from './pricing.ts'
import type { ReturnInput, ReturnLine } from './returns.ts'

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
export interface SyncBatch {
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

/** What the service has set for returns. */
type ReturnRules = Pick<Settings, 'returnReasons' | 'defaultReturnReason'>

/** What a return comes to; `lines` (those of the request) and `portions` count where there are no faults. */
export interface JudgedReturn {
  faults: FieldError[]
  lines: ReturnLine[]
  portions: SyncBatch[]
}

/**
 * Which lines of the order a return takes from, the first ones first, and every fault in it. SKUs are compared letter by letter;
 * lines with the same SKU are taken together. A
 * line without a quantity takes all that those before it leave.
 */
export function judgeReturn(
  input: Pick<ReturnInput, 'lines'>,
  order: { number: string; lines: readonly SoldLine[] },
  { returnReasons, defaultReturnReason }: ReturnRules,
): JudgedReturn {
  const faults: FieldError[] = []
  const lines: ReturnLine[] = []
  const portions: SyncBatch[] = []
  const left = order.lines.map(line => ({ ...line }))
  const asked = Map.groupBy(input.lines, line => line.sku)

  for (const [entry, { sku, quantity, reasonCode, notes }] of input.lines.entries()) {
    const sold = left.filter(line => line.sku === sku)
    const wanted = quantity ?? sum(sold.map(returnable))
    lines.push({ sku, quantity: wanted, reasonCode: reasonCode ?? defaultReturnReason ?? '', notes: notes ?? null })
    if (sold.length === 0) {
      faults.push({
        pointer: `/lines/${entry}/sku`,
        code: 'sku_not_on_order',
        detail: `SKU ${sku} isn't on order ${order.number}.`,
      })
      continue
    }
    let open = wanted
    for (const line of sold) {
      const count = Math.min(open, returnable(line))
      if (count === 0) continue
      const value = refundFor(line, count)
      portions.push({ entry, orderSequence: line.sequence, quantity: count, value })
      line.returned += count
      line.refunded += value
      open -= count
    }
    if (open === 0 && wanted > 0) continue
    const most = sum(order.lines.filter(line => line.sku === sku).map(returnable))
    const together = sum((asked.get(sku) ?? []).map(line => line.quantity ?? 0))
    const unsent = sold.every(line => line.status === 'processing') ? ', because it has not been shipped' : ''
    faults.push({
      pointer: `/lines/${entry}/quantity`,
      code: 'quantity_exceeds_returnable',
      detail: `At most ${most} of ${sku} can be returned${unsent}${together ? `, not ${together}` : ''}.`,
    })
  }
  for (const [entry, { reasonCode }] of lines.entries()) {
    const fault = faultOfReason(reasonCode, `/lines/${entry}/reasonCode`, returnReasons)
    if (fault) faults.push(fault)
  }
  return { faults: inOrder(faults), lines, portions }
}

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0)

function faultOfReason(code: string, pointer: string, reasons: ReturnRules['returnReasons']): FieldError | undefined {
  if (reasons.some(reason => reason.code === code)) return
  if (code === '')
    return {
      pointer,
      code: 'invalid_body',
      detail: '`reasonCode` is required, because this service has no `defaultReturnReason`.',
    }
  const detail = reasons.length
    ? `\`reasonCode\` must be one of ${reasons.map(reason => `\`${reason.code}\``).join(', ')}.`
    : 'This service has no return reasons. An admin can add them in the setting `returnReasons`.'
  return { pointer, code: 'invalid_field', detail }
}
