import type { Client } from '../client/client.ts'
import { findRetailApiError, numberExists } from '../client/retail-api-error.ts'
import { buildReturnPayload } from '../mapping/return-to-xml.ts'

/** Identifies a return that exists or may exist. */
export interface ReturnKey {
  order: { id: string; number: string; personId: string }
  /** The number in the back office. */
  number: string
}

/** Returns the path of an order's returns. */
export const buildReturnsPath = ({ id, personId }: ReturnKey['order']) => ['Persons', personId, 'Orders', id, 'Returns']

/**
 * True if the back office has a return with this number. Returns undefined if it can't be determined.
 * The Retail API can't look up returns. Instead, an invalid return with this number is submitted, of a SKU that is on no order. If the
 * number is taken, the back office reports a duplicate. The order's own number, which is always taken, is the control: if it isn't
 * reported as a duplicate, the back office checks the SKU first, and the result proves nothing.
 */
export async function doesReturnExist(client: Client, { order, number }: ReturnKey): Promise<boolean | undefined> {
  if (await isNumberTaken(client, order, number)) return true
  return (await isNumberTaken(client, order, order.number)) ? false : undefined
}

async function isNumberTaken(client: Client, order: ReturnKey['order'], number: string): Promise<boolean> {
  const line = { sku: '', quantity: 1, reasonCode: '', notes: null }
  const body = buildReturnPayload({
    number,
    order,
    restock: false,
    lines: [line],
    skuIds: new Map([[line.sku, '0']]),
    reasonIds: new Map(),
  })
  try {
    await client.write({ endpoint: 'returns', method: 'POST', path: buildReturnsPath(order), body })
  } catch (error) {
    const rejection = findRetailApiError(error)
    if (rejection) return rejection.code === numberExists
    throw error
  }
  throw new Error('the back office accepted a return of a SKU that is on no order')
}
