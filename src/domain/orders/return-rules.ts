import type { FieldError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import { sortErrors } from './order-rules.ts'
import { computeRefund, computeShippedValue } from './pricing.ts'
import type { ReturnInput, ReturnLine, ReturnReceipt } from './returns.ts'

/** A line of the original order. Amounts in minor units. */
export interface SoldLine {
  sequence: number
  sku: string
  quantity: number
  value: bigint
  shipped: number
  cancelled: number
  cancelledValue: bigint
  returned: number
  refunded: bigint
}

/** Units of an order line that a line of the return covers. */
export interface Allocation {
  /** The index of the return line. */
  entry: number
  /** The sequence of the order line. */
  orderSequence: number
  quantity: number
  value: bigint
}

/** A line of a return that has not been cancelled. */
export interface ReceivableLine {
  sequence: number
  skuId: string
  /** The store that gets the units back. Null: stock of the SKU is not counted. */
  storeId: string | null
  quantity: number
  received: number
  restocked: number
}

/** Units of a return line that have arrived. */
export interface ReceivedUnits {
  line: ReceivableLine
  quantity: number
}

/** Returns the selected units, by default all that have not arrived. Throws the errors of all lines that don't exist, repeat or have too few units. */
export function selectReceived(
  { number }: { number: string },
  lines: readonly ReceivableLine[],
  selection: ReturnReceipt['lines'],
): ReceivedUnits[] {
  const open = lines.flatMap(line => (countOpen(line) > 0 ? [{ line, quantity: countOpen(line) }] : []))
  if (!selection) return open
  const selected = new Map<ReceivableLine, ReceivedUnits>()
  throwIfAny(
    selection.flatMap(({ returnLineId, quantity }, i): FieldError[] => {
      const pointer = `/lines/${i}/returnLineId`
      const line = lines.find(({ sequence }) => String(sequence) === returnLineId)
      if (!line) return [{ pointer, code: 'invalid_field', detail: `Return ${number} has no line ${returnLineId}.` }]
      if (selected.has(line))
        return [
          { pointer, code: 'invalid_field', detail: `Line ${returnLineId} can't be listed twice. Merge the two.` },
        ]
      const units = { line, quantity: quantity ?? Math.max(countOpen(line), 1) }
      selected.set(line, units)
      if (units.quantity <= countOpen(line)) return []
      const detail = `At most ${countOpen(line)} of line ${returnLineId} can be received, not ${units.quantity}.`
      return [{ pointer: `/lines/${i}/quantity`, code: 'invalid_transition', detail }]
    }),
  )
  return [...selected.values()]
}

const countOpen = ({ quantity, received }: ReceivableLine) => quantity - received

/** Returns the shipped units of a line that can still be returned. */
const countReturnable = ({ shipped, returned }: SoldLine) => shipped - returned

type ReturnRules = Pick<Settings, 'returnReasons' | 'defaultReturnReason'>

/** A validated return. `lines` (those of the request) and `allocations` are complete only if there are no errors. */
export interface ValidatedReturn {
  errors: FieldError[]
  lines: ReturnLine[]
  allocations: Allocation[]
}

/**
 * Validates a return and allocates it to the lines of the order, in their sequence. SKUs are case-sensitive. Return lines with the same SKU
 * share the units of the order lines. A line without a quantity returns all units that the previous lines leave.
 */
export function validateReturn(
  input: Pick<ReturnInput, 'lines'>,
  order: { number: string; lines: readonly SoldLine[] },
  { returnReasons, defaultReturnReason }: ReturnRules,
): ValidatedReturn {
  const errors: FieldError[] = []
  const lines: ReturnLine[] = []
  const allocations: Allocation[] = []
  const orderLines = order.lines.map(line => ({ ...line }))
  const requested = Map.groupBy(input.lines, line => line.sku)

  for (const [entry, { sku, quantity, reasonCode, notes }] of input.lines.entries()) {
    const sold = orderLines.filter(line => line.sku === sku)
    const units = quantity ?? sum(sold.map(countReturnable))
    lines.push({ sku, quantity: units, reasonCode: reasonCode ?? defaultReturnReason ?? '', notes: notes ?? null })
    if (sold.length === 0) {
      errors.push({
        pointer: `/lines/${entry}/sku`,
        code: 'sku_not_on_order',
        detail: `SKU ${sku} isn't on order ${order.number}.`,
      })
      continue
    }
    let open = units
    for (const line of sold) {
      const count = Math.min(open, countReturnable(line))
      if (count === 0) continue
      const value = computeRefund({ ...line, value: computeShippedValue(line), quantity: line.shipped }, count)
      allocations.push({ entry, orderSequence: line.sequence, quantity: count, value })
      line.returned += count
      line.refunded += value
      open -= count
    }
    if (open === 0 && units > 0) continue
    const maximum = sum(order.lines.filter(line => line.sku === sku).map(countReturnable))
    const together = sum((requested.get(sku) ?? []).map(line => line.quantity ?? 0))
    const reason = sold.every(line => line.shipped + line.cancelled === 0) ? ', because it has not been shipped' : ''
    errors.push({
      pointer: `/lines/${entry}/quantity`,
      code: 'quantity_exceeds_returnable',
      detail: `At most ${maximum} of ${sku} can be returned${together ? `, not ${together}` : ''}${reason}.`,
    })
  }
  for (const [entry, { reasonCode }] of lines.entries()) {
    const error = checkReason(reasonCode, `/lines/${entry}/reasonCode`, returnReasons)
    if (error) errors.push(error)
  }
  return { errors: sortErrors(errors), lines, allocations }
}

/** A line of a return as a back office shows it. */
export interface ReportedReturnLine {
  skuId: string
  quantity: number
  isCancelled: boolean
}

export interface StoredReturnLine extends ReportedReturnLine {
  sequence: number
}

/**
 * Returns the sequences of the stored lines that the back office has cancelled since the last time. A reported line is stored as one or more
 * lines of the same SKU, because its units can come from several order lines. Lines of a SKU whose quantities differ are left as they are.
 */
export function findCancelledLines(
  stored: readonly StoredReturnLine[],
  reported: readonly ReportedReturnLine[],
): number[] {
  const storedBySku = Map.groupBy(stored, line => line.skuId)
  return [...Map.groupBy(reported, line => line.skuId)].flatMap(([skuId, lines]) => {
    const remaining = [...(storedBySku.get(skuId) ?? [])]
    const cancelled: number[] = []
    for (const { quantity, isCancelled } of lines) {
      for (let units = 0; units < quantity; ) {
        const next = remaining.shift()
        if (!next || units + next.quantity > quantity) return []
        units += next.quantity
        if (isCancelled && !next.isCancelled) cancelled.push(next.sequence)
      }
    }
    return remaining.length ? [] : cancelled
  })
}

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0)

function checkReason(code: string, pointer: string, reasons: ReturnRules['returnReasons']): FieldError | undefined {
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
