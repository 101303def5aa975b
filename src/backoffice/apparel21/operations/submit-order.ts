import { numberTaken } from '../../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../../domain/orders/orders.ts'
import { ApiError, toApiError } from '../../../errors/api-error.ts'
import { NotApplied, type Write } from '../../../writes/write.ts'
import type { Client } from '../client/client.ts'
import { effect } from '../client/effect.ts'
import { numberExists, refusalBehind } from '../client/rejection.ts'
import { isThisOrder, orderPayload, type PlacedOrder } from '../mapping/order-to-xml.ts'
import { text } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { atOrder } from './rejected.ts'

/** Why a number cannot be had. */
export const taken = (number: string) =>
  toApiError([numberTaken('/orderNumber', `Order number ${number} is already used.`)])

/**
 * Places an order, unless an earlier attempt has; returns its identifier. Where the number exists the order that has it is looked at:
 * the same one is this one (`find` looks for it, for this person). What is said of a voucher may come of its having paid already, by that attempt.
 */
export async function place(
  client: Client,
  write: Write,
  order: PlacedOrder,
  input: OrderInput,
  find: () => Promise<Xml | undefined>,
): Promise<string> {
  const { personId, number } = order
  try {
    const path = ['Persons', personId, 'Orders']
    const { id } = await effect(client, write, { endpoint: 'orders', method: 'POST', path, body: orderPayload(order) })
    if (id !== undefined) return id
  } catch (error) {
    const refusal = refusalBehind(error)
    const told = atOrder(error, order, input, client.connection)
    const isRepeated = refusal?.code === numberExists || error instanceof NotApplied
    const paysByVoucher = input.payments.some(payment => payment.voucher)
    if (!isRepeated && !(refusal && paysByVoucher)) throw told
    // Somebody has placed it: until it is seen who did, nobody is told that it was refused.
    if (refusal) write.note('done')
    const found = await find()
    const id = found && isThisOrder(found, order) ? text(found, 'Id') : null
    if (id) return id
    if (refusal?.code !== numberExists) {
      if (refusal) write.note('not done')
      throw told
    }
    if (typeof input.orderNumber === 'string') throw taken(number)
    throw new ApiError(found ? 'idempotency_key_reused' : 'back_office_error')
  }
  const id = text(await find(), 'Id')
  if (!id) throw new ApiError('outcome_unknown', undefined, { retryAfter: 2 })
  return id
}
