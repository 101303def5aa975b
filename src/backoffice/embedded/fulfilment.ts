import type { Db } from '../../db.ts'
import { amount } from '../../domain/money.ts'
import { lineSteps } from '../../domain/orders/orders.ts'
import { sum, units } from '../../domain/orders/pricing.ts'
import type { Service } from '../../settings.ts'
import { holdStock, moveStock } from '../../store/goods/stock.ts'
import { beginChange, type Change } from '../../store/lists/change.ts'
import { type HeldLine, linesOf, setLineStatus, stampOrder } from '../../store/orders/lines.ts'
import { type HeldOrder, holdOrder, voucherPayments } from '../../store/orders/orders.ts'
import { addSale } from '../../store/orders/sales.ts'
import { earnRewards, type HeldAccount, holdAccount } from '../../store/rewards/ledger.ts'
import { refundUpTo } from './vouchers/draw.ts'

/** What an order comes to whose lines are shipped: the sale is in the shopper's history, and earns rewards. `goods` are the lines' values. */
export const addShipped = (
  tx: Db,
  service: Service,
  change: Change,
  { order, account, goods }: { order: HeldOrder; account: HeldAccount | undefined; goods: readonly bigint[] },
) =>
  Promise.all([
    addSale(tx, service, change, order),
    earnRewards(tx, service, account, { orderNumber: order.number, amount: amount(sum(goods), order.decimals) }),
  ])

/** Ships an order that waits for it; an error says why it cannot be. */
export async function shipOrder(tx: Db, service: Service, number: string) {
  const { order, lines } = await processing(tx, service, number, 'shipped')
  const [account, change] = await Promise.all([
    holdAccount(tx, service, order.customerId),
    beginChange(tx, service, ['retail_transaction', 'sales_order']),
  ])
  const goods = lines.map(line => line.value)
  await Promise.all([
    setLineStatus(tx, service, order, lineSteps.ship.to),
    addShipped(tx, service, change, { order, account, goods }),
    stampOrder(tx, service, order, change),
  ])
}

/** Cancels an order that was not shipped: its stock comes back, and its vouchers have their money again. An error says why it cannot be. */
export async function cancelOrder(tx: Db, service: Service, number: string) {
  const { order, lines } = await processing(tx, service, number, 'cancelled')
  const payments = await voucherPayments(tx, service, order)
  for (const { number, amount } of payments)
    await refundUpTo(tx, service, { number, most: units(amount, order.decimals), orderNumber: order.number })
  const moves = lines.flatMap(({ storeId, skuId, quantity }) =>
    storeId === null ? [] : [{ storeId, skuId, quantity }],
  )
  await holdStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock', 'sales_order'])
  await setLineStatus(tx, service, order, lineSteps.cancel.to)
  await moveStock(tx, service, change, moves)
  await stampOrder(tx, service, order, change)
}

/** An order that can still be shipped or cancelled, held. */
async function processing(tx: Db, service: Service, number: string, wanted: 'shipped' | 'cancelled') {
  const order = await holdOrder(tx, service, { number })
  if (!order) throw new Error(`There is no order ${number}.`)
  const lines = await linesOf(tx, service, order)
  const other = lines.find(line => line.status !== lineSteps.ship.from)
  if (other) throw new Error(`The order ${number} cannot be ${wanted}: ${told(other)}`)
  return { order, lines }
}

const told = ({ status }: HeldLine) =>
  status === 'cancelled' ? 'it is cancelled.' : 'it is shipped already; what comes back is a return.'
