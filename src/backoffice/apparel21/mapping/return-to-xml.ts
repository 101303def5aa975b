import type { ReturnLine } from '../../../domain/orders/returns.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import { buildPayload } from '../xml/payload.ts'

/** A return that is about to be created. */
export interface NewReturn {
  number: string
  order: { number: string; personId: string }
  restock: boolean
  lines: readonly ReturnLine[]
  /** The back office's identifiers of SKUs, and of reasons by normalised code. */
  skuIds: ReadonlyMap<string, string>
  reasonIds: ReadonlyMap<string, string>
}

/** Builds the payload (version 2) in the order of elements that the Retail API requires. */
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

/** Normalises a reason code for comparison, which is not case-sensitive. */
export const normalizeReasonCode = (code: string) => code.trim().toLowerCase()

const maxNotesLength = 250

/** Returns the field errors of values that the back office doesn't accept, including unknown reasons. */
export const checkReturn = (
  lines: readonly ReturnLine[],
  reasons: readonly { code: string }[],
  reasonIds: ReadonlyMap<string, string>,
): FieldError[] =>
  lines.flatMap(({ reasonCode, notes }, i): FieldError[] => {
    const toError = (field: string, detail: string): FieldError => ({
      pointer: `/lines/${i}/${field}`,
      code: 'invalid_field',
      detail,
    })
    const isUnknown = reasons.some(({ code }) => code === reasonCode) && !reasonIds.has(normalizeReasonCode(reasonCode))
    return [
      ...(isUnknown ? [toError('reasonCode', `The back office has no return reason ${reasonCode}.`)] : []),
      ...((notes?.length ?? 0) > maxNotesLength
        ? [toError('notes', `This field can have at most ${maxNotesLength} characters in the back office.`)]
        : []),
    ]
  })
