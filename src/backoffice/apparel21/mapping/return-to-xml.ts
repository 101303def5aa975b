import type { ReturnLine } from '../../../domain/orders/returns.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import { payload } from '../xml/payload.ts'

/** A return that is about to be made. */
export interface MadeReturn {
  number: string
  order: { number: string; personId: string }
  restock: boolean
  lines: readonly ReturnLine[]
  /** The back office's identifiers: of SKUs, and of reasons by their codes. */
  skuIds: ReadonlyMap<string, string>
  reasonIds: ReadonlyMap<string, string>
}

/** The return in the guide's order of elements (payload version 2). */
export const returnPayload = ({ number, order, restock, lines, skuIds, reasonIds }: MadeReturn): string =>
  payload('ReturnOrder', [
    ['OrderNumber', number],
    ['OrigOrderNum', order.number],
    ['PersonId', order.personId],
    ['StockUpdate', restock ? 'True' : 'False'],
    [
      'OrderDetails',
      lines.map(({ sku, quantity, reasonCode, notes }) => [
        'OrderDetail',
        [
          ['SkuId', skuIds.get(sku)],
          ['Quantity', -quantity],
          ['ReturnReasonId', reasonIds.get(comparableReason(reasonCode))],
          ['ReturnReasonNotes', notes ?? undefined],
        ],
      ]),
    ],
  ])

/** Codes of reasons are compared whatever their case. */
export const comparableReason = (code: string) => code.trim().toLowerCase()

const longestNotes = 250

/** What a return says that this system cannot take, the reasons that it does not know among it. */
export const faultsOfReturn = (
  lines: readonly ReturnLine[],
  reasons: readonly { code: string }[],
  reasonIds: ReadonlyMap<string, string>,
): FieldError[] =>
  lines.flatMap(({ reasonCode, notes }, i): FieldError[] => {
    const fault = (field: string, detail: string): FieldError => ({
      pointer: `/lines/${i}/${field}`,
      code: 'invalid_field',
      detail,
    })
    const isUnknown = reasons.some(({ code }) => code === reasonCode) && !reasonIds.has(comparableReason(reasonCode))
    return [
      ...(isUnknown ? [fault('reasonCode', `The back office has no return reason ${reasonCode}.`)] : []),
      ...((notes?.length ?? 0) > longestNotes
        ? [fault('notes', `The back office takes at most ${longestNotes} characters here.`)]
        : []),
    ]
  })
