import type { Client } from '../client/client.ts'
import { findRetailApiError, numberExists } from '../client/retail-api-error.ts'
import { buildReturnPayload } from '../mapping/return-to-xml.ts'

/** Where a return is, or would be. */
export interface ReturnKey {
  order: { id: string; number: string; personId: string }
  /** As the back office has it, or would. */
  number: string
}

/** The path of the returns of an order. */
export const buildReturnsPath = ({ id, personId }: ReturnKey['order']) => ['Persons', personId, 'Orders', id, 'Returns']

/**
 * Whether the back office has a return with this number, which cannot be looked up: it is told one with this number that cannot be made,
 * of a SKU that is on no order, and refuses it for its number where that is taken. Undefined where nobody can say: it refuses the very
 * number of the order for the SKU as well.
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
    const refusal = findRetailApiError(error)
    if (refusal) return refusal.code === numberExists
    throw error
  }
  throw new Error('The back office takes a return of nothing that was sold.')
}
