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

export const createNumberTaken = (number: string) =>
  toApiError([orderNumberTaken('/orderNumber', `Order number ${number} is already used.`)])

/**
 * Submits an order, unless an earlier attempt has, and returns its identifier. If the number exists, `find` loads the order with this
 * number and person; if it is the same order, the earlier attempt has placed it. An error of a voucher or coupon is checked in the same way, because
 * the earlier attempt may have redeemed it.
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
    const rejection = findRetailApiError(error)
    const translated = pointIntoOrder(error, order, input, client.connection)
    const isDuplicate = rejection?.code === numberExists || error instanceof NotApplied
    const usesOnce =
      input.payments.some(payment => payment.voucher) ||
      order.input.lines.some(({ discounts }) => discounts?.some(({ source }) => source?.typeId === 5))
    if (!isDuplicate && !(rejection && usesOnce)) throw translated
    // Another attempt may have placed the order. Until that is known, the write must not count as rejected.
    if (rejection) write.recordEffect('applied')
    const existing = await find()
    const id = existing && isSameOrder(existing, order) ? readText(existing, 'Id') : null
    if (id) return id
    if (rejection?.code !== numberExists) {
      if (rejection) write.recordEffect('not_applied')
      throw translated
    }
    if (typeof input.orderNumber === 'string') throw createNumberTaken(number)
    throw new ApiError(existing ? 'idempotency_key_reused' : 'back_office_error')
  }
  const id = readText(await find(), 'Id')
  if (!id) throw new ApiError('outcome_unknown', undefined, { retryAfter: 2 })
  return id
}
