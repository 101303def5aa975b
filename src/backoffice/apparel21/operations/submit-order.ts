import { orderNumberTaken } from '../../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../../domain/orders/orders.ts'
import { ApiError, toApiError } from '../../../errors/api-error.ts'
import { NotApplied, type Write } from '../../../writes/write.ts'
import type { Client } from '../client/client.ts'
import { performWrite } from '../client/perform-write.ts'
import { findRetailApiError, numberExists } from '../client/retail-api-error.ts'
import { buildOrderPayload, isSameOrder, type NewOrder } from '../mapping/order-to-xml.ts'
import { readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { pointIntoOrder } from './error-pointers.ts'

/** Why a number cannot be had. */
export const createNumberTaken = (number: string) =>
  toApiError([orderNumberTaken('/orderNumber', `Order number ${number} is already used.`)])

/**
 * Places an order, unless an earlier attempt has; returns its identifier. Where the number exists the order that has it is looked at:
 * the same one is this one (`find` looks for it, for this person). What is said of a voucher may come of its having paid already, by that attempt.
 */
export async function submitOrder(
  client: Client,
  write: Write,
  order: NewOrder,
  input: OrderInput,
  find: () => Promise<Xml | undefined>,
): Promise<string> {
  const { personId, number } = order
  try {
    const path = ['Persons', personId, 'Orders']
    const { id } = await performWrite(client, write, {
      endpoint: 'orders',
      method: 'POST',
      path,
      body: buildOrderPayload(order),
    })
    if (id !== undefined) return id
  } catch (error) {
    const refusal = findRetailApiError(error)
    const told = pointIntoOrder(error, order, input, client.connection)
    const isRepeated = refusal?.code === numberExists || error instanceof NotApplied
    const paysByVoucher = input.payments.some(payment => payment.voucher)
    if (!isRepeated && !(refusal && paysByVoucher)) throw told
    // Somebody has placed it: until it is seen who did, nobody is told that it was refused.
    if (refusal) write.note('done')
    const found = await find()
    const id = found && isSameOrder(found, order) ? readText(found, 'Id') : null
    if (id) return id
    if (refusal?.code !== numberExists) {
      if (refusal) write.note('not done')
      throw told
    }
    if (typeof input.orderNumber === 'string') throw createNumberTaken(number)
    throw new ApiError(found ? 'idempotency_key_reused' : 'back_office_error')
  }
  const id = readText(await find(), 'Id')
  if (!id) throw new ApiError('outcome_unknown', undefined, { retryAfter: 2 })
  return id
}
