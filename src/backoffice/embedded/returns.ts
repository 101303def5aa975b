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
import { type GivenBack, refundVouchers } from './vouchers/refund.ts'

/** Holds the order, so that the returns of one order come one after the other, each judged by what the others have left. */
export async function createReturn(
  { tx, service }: WithTransaction,
  idOrNumber: string,
  input: ReturnInput,
): Promise<WrittenRecord> {
  const returnNumber = input.returnNumber ?? undefined
  const restock = input.restock ?? true
  const [held, isTaken, next] = await Promise.all([
    lockOrderWithLines(tx, service, { idOrNumber }),
    returnNumber !== undefined && isReturnNumberTaken(tx, service, returnNumber),
    returnNumber === undefined ? reserveNumber(tx, service, 'return') : undefined,
  ])
  if (!held) throw notFound('order')
  const { order, lines: sold } = held
  const {
    errors: faults,
    allocations: portions,
    lines: returned,
  } = validateReturn(input, { number: order.number, lines: sold }, service.settings)
  const taken = orderNumberTaken('/returnNumber', `There is a return ${returnNumber} already.`)
  throwIfAny(sortErrors(isTaken ? [...faults, taken] : faults))

  const place = async () => {
    const insert = (number: string) => insertReturn(tx, service, order, { number, restock })
    const made = next ? await useNumber(tx, service, 'return', next, insert) : await insert(returnNumber ?? '')
    if (!made) throw toApiError([taken])
    return made
  }
  const bySequence = new Map(sold.map(line => [line.sequence, line]))
  const moves = portions.flatMap(({ orderSequence, quantity }) => {
    const { storeId = null, skuId = '' } = bySequence.get(orderSequence) ?? {}
    return restock && storeId !== null ? [{ storeId, skuId, quantity }] : []
  })
  const [made, , account, change] = await Promise.all([
    place(),
    lockStock(tx, service, moves),
    lockRewardAccount(tx, service, order.customerId),
    beginChange(tx, service, ['stock', 'retail_transaction', 'sales_order']),
  ])
  const [, , record] = await Promise.all([
    insertReturnLines(tx, service, order, made.id, returned, portions),
    moveStock(tx, service, change, moves),
    findReturn(tx, service, made.id),
    addReturn(tx, service, change, made.id),
    touchOrder(tx, service, order, change),
    reverseRewards(tx, service, account, {
      orderNumber: order.number,
      returnNumber: made.number,
      amount: formatAmount(sum(portions.map(portion => portion.value)), order.decimals),
    }),
  ])
  if (!record) throw new Error('what was just written is there')
  return { id: made.id, ...record }
}

/** Takes a return a step further; an error says why that cannot be. Returns what went back to vouchers with it. */
export async function stepReturn(
  tx: Db,
  service: Service,
  number: string,
  step: ReturnAction,
): Promise<{ id: string; givenBack: GivenBack[] }> {
  const missing = new Error(`There is no return ${number}.`)
  const { orderId } = (await findReturnByNumber(tx, service, number)) ?? {}
  if (orderId === undefined) throw missing
  const order = await lockOrder(tx, service, { id: orderId })
  const found = await findReturnByNumber(tx, service, number)
  if (!order || !found) throw missing
  const status = returnActions[step]
  if (!nextReturnStatus[found.status].includes(status))
    throw new Error(`The return ${number} is ${found.status}, and cannot be ${status}.`)

  const givenBack =
    step === 'refund' ? await refundVouchers(tx, service, order, toMinorUnits(found.total, order.decimals)) : []
  const moves = step === 'cancel' ? await leaving(tx, service, found) : []
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock', 'retail_transaction', 'sales_order', 'sales_return'])
  await setReturnStatus(tx, service, found.id, status, change.at)
  if (step !== 'cancel') return { id: found.id, givenBack }
  await subtractReturnLines(tx, service, found.id)
  await moveStock(tx, service, change, moves)
  await addReturn(tx, service, change, found.id, { cancelled: true })
  await touchOrder(tx, service, order, change)
  const account = await lockRewardAccount(tx, service, order.customerId)
  await restoreRewards(tx, service, account, { orderNumber: order.number, returnNumber: number })
  return { id: found.id, givenBack }
}

/** The stock that leaves again with a return that is cancelled. */
const leaving = async (tx: Db, service: Service, { id, restock }: StoredReturn) =>
  restock ? (await findReturnedStock(tx, service, id)).map(move => ({ ...move, quantity: -move.quantity })) : []
