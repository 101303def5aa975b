import type { Db } from '../../database/db.ts'
import { orderNumberTaken, sortErrors } from '../../domain/orders/order-rules.ts'
import { sum, toMinorUnits } from '../../domain/orders/pricing.ts'
import { validateReturn } from '../../domain/orders/return-rules.ts'
import { nextReturnStatus, type ReturnAction, type ReturnInput, returnActions } from '../../domain/orders/returns.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { notFound, toApiError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { lockStock, moveStock } from '../../store/inventory/stock.ts'
import { beginChange } from '../../store/lists/change-timestamp.ts'
import { lockOrderWithLines, touchOrder } from '../../store/orders/lines.ts'
import { reserveNumber, useNumber } from '../../store/orders/numbers.ts'
import { lockOrder } from '../../store/orders/orders.ts'
import {
  findReturn,
  findReturnByNumber,
  findReturnedStock,
  insertReturn,
  insertReturnLines,
  isReturnNumberTaken,
  type StoredReturn,
  setReturnStatus,
  subtractReturnLines,
} from '../../store/orders/returns.ts'
import { addReturn } from '../../store/orders/sales.ts'
import { lockRewardAccount, restoreRewards, reverseRewards } from '../../store/rewards/ledger.ts'
import type { WithTransaction } from '../../writes/write.ts'
import type { WrittenRecord } from '../port/orders.ts'
import { refundVouchers, type VoucherRefund } from './vouchers/redeem.ts'

/** Creates a return. Locks the order, so that each return is validated against the quantities that earlier returns left over. */
export async function createReturn(
  { tx, service }: WithTransaction,
  idOrNumber: string,
  input: ReturnInput,
): Promise<WrittenRecord> {
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
  const bySequence = new Map(sold.map(line => [line.sequence, line]))
  const moves = allocations.flatMap(({ orderSequence, quantity }) => {
    const { storeId = null, skuId = '' } = bySequence.get(orderSequence) ?? {}
    return restock && storeId !== null ? [{ storeId, skuId, quantity }] : []
  })
  const [created, , account, change] = await Promise.all([
    place(),
    lockStock(tx, service, moves),
    lockRewardAccount(tx, service, order.customerId),
    beginChange(tx, service, ['stock', 'retail_transaction', 'sales_order']),
  ])
  const [, , record] = await Promise.all([
    insertReturnLines(tx, service, order, created.id, lines, allocations),
    moveStock(tx, service, change, moves),
    findReturn(tx, service, created.id),
    addReturn(tx, service, change, created.id),
    touchOrder(tx, service, order, change),
    reverseRewards(tx, service, account, {
      orderNumber: order.number,
      returnNumber: created.number,
      amount: formatAmount(sum(allocations.map(({ value }) => value)), order.decimals),
    }),
  ])
  if (!record) throw new Error('inserted return not found')
  return { id: created.id, ...record }
}

/** Advances or cancels a return. Throws if its status doesn't permit the action. Returns the refunds to vouchers. */
export async function advanceReturn(
  tx: Db,
  service: Service,
  number: string,
  action: ReturnAction,
): Promise<{ id: string; refunds: VoucherRefund[] }> {
  const missing = new Error(`Return ${number} not found.`)
  const { orderId } = (await findReturnByNumber(tx, service, number)) ?? {}
  if (orderId === undefined) throw missing
  const order = await lockOrder(tx, service, { id: orderId })
  // Read again: the status can have changed before the order was locked.
  const stored = await findReturnByNumber(tx, service, number)
  if (!order || !stored) throw missing
  const status = returnActions[action]
  if (!nextReturnStatus[stored.status].includes(status))
    throw new Error(`Return ${number} is ${stored.status}, so it can't be ${status}.`)

  const refunds =
    action === 'refund' ? await refundVouchers(tx, service, order, toMinorUnits(stored.total, order.decimals)) : []
  const moves = action === 'cancel' ? await reverseRestock(tx, service, stored) : []
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock', 'retail_transaction', 'sales_order', 'sales_return'])
  const returnedLines = await setReturnStatus(tx, service, stored.id, status, change.at)
  if (returnedLines) await touchOrder(tx, service, order, change)
  if (action !== 'cancel') return { id: stored.id, refunds }
  await subtractReturnLines(tx, service, stored.id)
  await moveStock(tx, service, change, moves)
  await addReturn(tx, service, change, stored.id, { cancelled: true })
  await touchOrder(tx, service, order, change)
  const account = await lockRewardAccount(tx, service, order.customerId)
  await restoreRewards(tx, service, account, { orderNumber: order.number, returnNumber: number })
  return { id: stored.id, refunds }
}

/** Returns the stock moves that undo a return's restocking. */
const reverseRestock = async (tx: Db, service: Service, { id, restock }: StoredReturn) =>
  restock ? (await findReturnedStock(tx, service, id)).map(move => ({ ...move, quantity: -move.quantity })) : []
