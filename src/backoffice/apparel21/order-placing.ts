import { numberTaken } from '../../domain/orders/check.ts'
import type { OrderInput } from '../../domain/orders/orders.ts'
import { pointedAt } from '../../domain/vouchers/use.ts'
import { NeverDone, type Write } from '../../domain/write.ts'
import { ApiError, type ErrorCode, faulty } from '../../errors.ts'
import type { Client } from './calls/client.ts'
import { effect } from './calls/effect.ts'
import { numberExists, refusalBehind } from './calls/refusal.ts'
import { isThisOrder, orderPayload, type PlacedOrder } from './records/order-write.ts'
import { text } from './xml/values.ts'
import type { Xml } from './xml/xml.ts'

/** Why a number cannot be had. */
export const taken = (number: string) => faulty([numberTaken('/orderNumber', `There is an order ${number} already.`)])

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
    const isRepeated = refusal?.code === numberExists || error instanceof NeverDone
    const paysByVoucher = input.payments.some(payment => payment.voucher)
    if (!isRepeated && !(refusal && paysByVoucher)) throw error
    // Somebody has placed it: until it is seen who did, nobody is told that it was refused.
    if (refusal) write.note('done')
    const found = await find()
    const id = found && isThisOrder(found, order) ? text(found, 'Id') : null
    if (id) return id
    if (refusal?.code !== numberExists) throw pointedAtVoucher(error, input)
    if (typeof input.orderNumber === 'string') throw taken(number)
    throw new ApiError(found ? 'idempotency_key_reused' : 'back_office_error')
  }
  const id = text(await find(), 'Id')
  if (!id) throw new ApiError('outcome_unknown', undefined, { retryAfter: 2 })
  return id
}

const ofVouchers: ReadonlySet<ErrorCode> = new Set([
  ...(['voucher_not_accepted', 'validation_id_incorrect', 'voucher_locked', 'voucher_unusable'] as const),
  ...(['voucher_must_be_used_in_full', 'insufficient_voucher_balance'] as const),
])

/** What is the matter with the only voucher that pays, with its place. */
function pointedAtVoucher(error: unknown, { payments }: OrderInput): unknown {
  const [place, other] = payments.flatMap(({ voucher }, i) => (voucher ? [i] : []))
  if (!(error instanceof ApiError) || place === undefined || other !== undefined) return error
  return ofVouchers.has(error.code) ? pointedAt(`/payments/${place}/voucher`, error) : error
}
