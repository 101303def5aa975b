import type { ExchangeInput } from '../../domain/orders/exchanges.ts'
import { toMinorUnits } from '../../domain/orders/pricing.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { ApiError, notFound, toApiError } from '../../errors/api-error.ts'
import { lockCustomerKeys } from '../../store/customers/removal.ts'
import { lockOrder } from '../../store/orders/orders.ts'
import { findReturn, findStoredReturn, payWithReturn } from '../../store/orders/returns.ts'
import type { WithTransaction } from '../../writes/write.ts'
import type { WrittenRecord } from '../port/orders.ts'
import { placeOrder } from './orders.ts'
import { insertPricedReturn } from './returns.ts'

/**
 * Creates a return and a new order of the same customer in one transaction. The refund of the return pays for the order first; its payments
 * must pay the rest. Locks the customer and the returned order, and then like `placeOrder`.
 */
export async function createExchange(
  write: WithTransaction,
  idOrNumber: string,
  { orderReturn, order: input }: ExchangeInput,
): Promise<WrittenRecord> {
  const { tx, service } = write
  await lockCustomerKeys(tx, service, [input.customerId])
  const original = await lockOrder(tx, service, { idOrNumber })
  if (!original) throw notFound('order')
  const { currency, decimals } = original
  if (input.customerId !== original.customerId)
    throw invalidField('/order/customerId', `\`customerId\` must be the customer of order ${original.number}.`)
  if (currency !== service.settings.currency)
    throw invalidField('/order', `Order ${original.number} is in ${currency}, so it can't be exchanged.`)
  const inserting = insertPricedReturn(write, original.id, orderReturn)
  const {
    record: { id: returnId },
    reverse,
  } = await inField('/orderReturn', inserting)
  const returned = await findStoredReturn(tx, service, { id: returnId })
  if (!returned) throw new Error('inserted return not found')
  const total = toMinorUnits(returned.total, decimals)
  const { id, record, credit } = await inField(
    '/order',
    placeOrder(write, input, { available: total, returnNumber: returned.number }),
  )
  await reverse()
  await payWithReturn(tx, service, returned, { orderId: id, credit: formatAmount(credit, decimals) })
  const stored = await findReturn(tx, service, returnId)
  if (!stored) throw new Error('inserted return not found')
  const refund = JSON.stringify(formatAmount(total - credit, decimals))
  return { id, record: `{"orderReturn":${stored.record},"order":${record},"refund":${refund}}` }
}

const invalidField = (pointer: string, detail: string) => toApiError([{ pointer, code: 'invalid_field', detail }])

/** Awaits a part of a write. Its errors point into the field of the body that has the part. */
async function inField<T>(field: string, part: Promise<T>): Promise<T> {
  try {
    return await part
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const errors = error.errors.map(({ pointer, ...fieldError }) => ({
      ...fieldError,
      ...(pointer !== undefined && { pointer: field + pointer }),
    }))
    throw new ApiError(error.code, error.message, { errors, members: error.members, headers: error.headers })
  }
}
