import type { ReturnLine } from '../../../domain/orders/returns.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import { buildPayload } from '../xml/payload.ts'

/** A return that is about to be made. */
export interface NewReturn {
  number: string
  order: { number: string; personId: string }
  restock: boolean
  lines: readonly ReturnLine[]
  /** The back office's identifiers: of SKUs, and of reasons by their codes. */
  skuIds: ReadonlyMap<string, string>
  reasonIds: ReadonlyMap<string, string>
}

/** The return in the guide's order of elements (payload version 2). */
export const buildReturnPayload = ({ number, order, restock, lines, skuIds, reasonIds }: NewReturn): string =>
  buildPayload('ReturnOrder', [
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
          ['ReturnReasonId', reasonIds.get(normalizeReasonCode(reasonCode))],
          ['ReturnReasonNotes', notes ?? undefined],
        ],
      ]),
    ],
  ])

/** Codes of reasons are compared whatever their case. */
export const normalizeReasonCode = (code: string) => code.trim().toLowerCase()

const maxNotesLength = 250

/** What a return says that this system cannot take, the reasons that it does not know among it. */
export const checkReturn = (
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
    const isUnknown = reasons.some(({ code }) => code === reasonCode) && !reasonIds.has(normalizeReasonCode(reasonCode))
    return [
      ...(isUnknown ? [fault('reasonCode', `The back office has no return reason ${reasonCode}.`)] : []),
      ...((notes?.length ?? 0) > maxNotesLength
        ? [fault('notes', `The back office takes at most ${maxNotesLength} characters here.`)]
        : []),
    ]
  })
