import type { Db } from '../../database/db.ts'
import type { Writer } from '../../domain/audit.ts'
import { orderNumberTaken, sortErrors } from '../../domain/orders/order-rules.ts'
import { sum, toMinorUnits } from '../../domain/orders/pricing.ts'
import type { Refund } from '../../domain/orders/refunds.ts'
import { selectReceived, validateReturn } from '../../domain/orders/return-rules.ts'
import type { ReturnInput, ReturnReceipt } from '../../domain/orders/returns.ts'
import { type ReturnAction, requirePermittedAction, returnActions } from '../../domain/orders/transitions.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { ApiError, notFound, toApiError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { lockStock, moveStock } from '../../store/inventory/stock.ts'
import { beginChange } from '../../store/lists/change-timestamp.ts'
import { lockOrderWithLines, touchOrder } from '../../store/orders/lines.ts'
import { reserveNumber, useNumber } from '../../store/orders/numbers.ts'
import { lockOrder } from '../../store/orders/orders.ts'
import {
  findReceivableLines,
  findReturn,
  findStoredReturn,
  insertReturn,
  insertReturnLines,
  isReturnNumberTaken,
  type ReturnName,
  receiveUnits,
  setRestock,
  setReturnStatus,
  subtractReturnLines,
} from '../../store/orders/returns.ts'
import { addReturn } from '../../store/orders/sales.ts'
import { lockRewardAccount, restoreRewards, reverseRewards } from '../../store/rewards/ledger.ts'
import { getWriter, type WithTransaction } from '../../writes/write.ts'
import type { WrittenRecord } from '../port/orders.ts'
import { refundOrder } from './refunds.ts'

/** Creates a return. Locks the order, its number and the reward account. */
export async function createReturn(
  write: WithTransaction,
  idOrNumber: string,
  input: ReturnInput,
): Promise<WrittenRecord> {
  const { record, reverse } = await insertPricedReturn(write, idOrNumber, input)
  await reverse()
  return record
}

/**
 * Inserts a return. Locks the order, so that each return is validated against the quantities that earlier returns left over. `reverse` takes
 * back the rewards of the order: it locks the reward account, so call it after every other lock of the transaction.
 */
export async function insertPricedReturn(
  { tx, service }: WithTransaction,
  idOrNumber: string,
  input: ReturnInput,
): Promise<{ record: WrittenRecord; reverse: () => Promise<void> }> {
  const returnNumber = input.returnNumber ?? undefined
  const restock = input.restock ?? true
  const [locked, isNumberTaken, reserved] = await Promise.all([
    lockOrderWithLines(tx, service, { idOrNumber }),
    returnNumber !== undefined && isReturnNumberTaken(tx, service, returnNumber),
    returnNumber === undefined ? reserveNumber(tx, service, 'return') : undefined,
  ])
  if (!locked) throw notFound('order')
  const { order, lines: sold } = locked
  const { errors, allocations, lines } = validateReturn(input, { number: order.number, lines: sold }, service.settings)
  const numberTaken = orderNumberTaken('/returnNumber', `Return number ${returnNumber} is already used.`)
  throwIfAny(sortErrors(isNumberTaken ? [...errors, numberTaken] : errors))

  const place = async () => {
    const insert = (number: string) => insertReturn(tx, service, order, { number, restock })
    const placed = reserved
      ? await useNumber(tx, service, 'return', reserved, insert)
      : await insert(returnNumber ?? '')
    if (!placed) throw toApiError([numberTaken])
    return placed
  }
  const [created, change] = await Promise.all([
    place(),
    beginChange(tx, service, ['retail_transaction', 'sales_order']),
  ])
  const [, record] = await Promise.all([
    insertReturnLines(tx, service, order, created.id, lines, allocations),
    findReturn(tx, service, created.id),
    addReturn(tx, service, change, created.id),
    touchOrder(tx, service, order, change),
  ])
  if (!record) throw new Error('inserted return not found')
  const reverse = async () =>
    reverseRewards(tx, service, await lockRewardAccount(tx, service, order.customerId), {
      orderNumber: order.number,
      returnNumber: created.number,
      amount: formatAmount(sum(allocations.map(({ value }) => value)), order.decimals),
    })
  return { record: { id: created.id, ...record }, reverse }
}

/**
 * Advances or cancels a return. Received units go back into stock, unless `restock` is false. The return stays `requested` until all of its
 * units are received. Cancelling it takes restocked units off again. Returns its ID, and the refund if it was refunded. Throws
 * `invalid_transition` if its status or its lines don't permit the action.
 */
export async function advanceReturn(
  tx: Db,
  service: Service,
  name: ReturnName,
  action: ReturnAction,
  { lines: selection, restock }: ReturnReceipt = {},
  writer?: Writer,
): Promise<{ id: string; refund: Refund | undefined }> {
  const missing = 'number' in name ? new ApiError('not_found', `Return ${name.number} not found.`) : notFound('return')
  const { orderId } = (await findStoredReturn(tx, service, name)) ?? {}
  if (orderId === undefined) throw missing
  const order = await lockOrder(tx, service, { id: orderId })
  // Read again: the status can have changed before the order was locked.
  const stored = await findStoredReturn(tx, service, name)
  if (!order || !stored) throw missing
  requirePermittedAction(stored, action)

  const credit = toMinorUnits(stored.exchangeCredit, order.decimals)
  if (action === 'cancel' && credit > 0n)
    throw new ApiError(
      'invalid_transition',
      `Return ${stored.number} can't be cancelled: it pays for the order of an exchange. Cancel that order first.`,
    )
  const total = toMinorUnits(stored.total, order.decimals) - credit
  const refund = action === 'refund' ? await refundOrder(tx, service, order, total, writer) : undefined
  const isRestocked = restock ?? stored.restock
  const lines = await findReceivableLines(tx, service, stored.id)
  const received = action === 'receive' ? selectReceived(stored, lines, selection) : []
  const moves = [
    ...(isRestocked ? received : []),
    ...(action === 'cancel' ? lines.map(line => ({ line, quantity: -line.restocked })) : []),
  ].flatMap(({ line: { storeId, skuId }, quantity }) => (storeId === null ? [] : [{ storeId, skuId, quantity }]))
  const isComplete =
    countUnits([...received, ...lines.map(line => ({ quantity: line.received }))]) === countUnits(lines)
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock', 'retail_transaction', 'sales_order', 'sales_return'])
  if (isRestocked !== stored.restock) await setRestock(tx, service, stored, isRestocked)
  if (received.length) await receiveUnits(tx, service, stored.id, received, isRestocked)
  const status = action === 'receive' && !isComplete ? stored.status : returnActions[action]
  const returnedLines = await setReturnStatus(tx, service, stored.id, status, change.at)
  await moveStock(tx, service, change, moves)
  if (returnedLines || action === 'cancel') await touchOrder(tx, service, order, change)
  if (action !== 'cancel') return { id: stored.id, refund }
  await subtractReturnLines(tx, service, stored.id)
  await addReturn(tx, service, change, stored.id, { cancelled: true })
  const account = await lockRewardAccount(tx, service, order.customerId)
  await restoreRewards(tx, service, account, { orderNumber: order.number, returnNumber: stored.number })
  return { id: stored.id, refund }
}

const countUnits = (lines: readonly { quantity: number }[]) =>
  lines.reduce((units, { quantity }) => units + quantity, 0)

/** Receives a return, or the units that have arrived, and returns it. */
export const receiveReturn = async (
  { tx, service }: WithTransaction,
  id: string,
  input: ReturnReceipt,
): Promise<WrittenRecord> => {
  await advanceReturn(tx, service, { id }, 'receive', input)
  return { id, record: await readReturn(tx, service, id) }
}

/** Refunds a return and returns it with its refund. */
export const refundReturn = async (write: WithTransaction, id: string): Promise<WrittenRecord> => {
  const { tx, service } = write
  const { refund } = await advanceReturn(tx, service, { id }, 'refund', {}, getWriter(write))
  const record = await readReturn(tx, service, id)
  return { id, record: `{"orderReturn":${record},"refund":${JSON.stringify(refund)}}` }
}

async function readReturn(tx: Db, service: Service, id: string): Promise<string> {
  const stored = await findReturn(tx, service, id)
  if (!stored) throw new Error('advanced return not found')
  return stored.record
}
