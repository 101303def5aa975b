import type { Db } from '../../database/db.ts'
import { lineTransitions } from '../../domain/orders/orders.ts'
import { sum } from '../../domain/orders/pricing.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { lockStock, moveStock } from '../../store/inventory/stock.ts'
import { beginChange, type Change } from '../../store/lists/change-timestamp.ts'
import { advanceLines, type LockedLine, lockOrderWithLines, touchOrder } from '../../store/orders/lines.ts'
import { type LockedOrder, readFreight } from '../../store/orders/orders.ts'
import { addSale } from '../../store/orders/sales.ts'
import { earnRewards, type LockedRewardAccount, lockRewardAccount } from '../../store/rewards/ledger.ts'
import { refundVouchers } from './vouchers/refund.ts'

/** What lines of an order come to that are shipped: their sale is in the shopper's history, and earns rewards. */
export const addShipped = (
  tx: Db,
  service: Service,
  change: Change,
  { order, account, goods }: { order: LockedOrder; account: LockedRewardAccount | undefined; goods: readonly Goods[] },
) =>
  Promise.all([
    addSale(tx, service, change, order, goods),
    earnRewards(tx, service, account, {
      orderNumber: order.number,
      amount: formatAmount(worthOf(goods), order.decimals),
    }),
  ])

type Goods = Pick<LockedLine, 'sequence' | 'value'>

const worthOf = (goods: readonly Goods[]) => sum(goods.map(line => line.value))

/** Ships what of an order waits for it, and returns the order; an error says why nothing does. */
export async function shipOrder(tx: Db, service: Service, number: string): Promise<LockedOrder> {
  const { order, waiting } = await processing(tx, service, number, 'shipped')
  const [account, change] = await Promise.all([
    lockRewardAccount(tx, service, order.customerId),
    beginChange(tx, service, ['retail_transaction', 'sales_order']),
  ])
  await Promise.all([
    advanceLines(tx, service, order, lineTransitions.ship),
    addShipped(tx, service, change, { order, account, goods: waiting }),
    touchOrder(tx, service, order, change),
  ])
  return order
}

/**
 * Cancels what of an order was not shipped: its stock comes back, and its vouchers have their money again; that of the freight too,
 * where nothing else of the order was sent. Returns the order; an error says why it cannot be.
 */
export async function cancelOrder(tx: Db, service: Service, number: string): Promise<LockedOrder> {
  const { order, waiting, isUnsent } = await processing(tx, service, number, 'cancelled')
  const freight = isUnsent ? await readFreight(tx, service, order) : 0n
  await refundVouchers(tx, service, order, worthOf(waiting) + freight)
  const moves = waiting.flatMap(({ storeId, skuId, quantity }) =>
    storeId === null ? [] : [{ storeId, skuId, quantity }],
  )
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock', 'sales_order'])
  await advanceLines(tx, service, order, lineTransitions.cancel)
  await moveStock(tx, service, change, moves)
  await touchOrder(tx, service, order, change)
  return order
}

/** An order of which lines can still be shipped or cancelled, held; one that was imported may have others besides. */
async function processing(tx: Db, service: Service, number: string, wanted: 'shipped' | 'cancelled') {
  const held = await lockOrderWithLines(tx, service, { number })
  if (!held) throw new Error(`Order ${number} not found.`)
  const { order, lines } = held
  const waiting = lines.filter(line => line.status === lineTransitions.ship.from)
  const isUnsent = lines.every(
    line => line.status === lineTransitions.ship.from || line.status === lineTransitions.cancel.to,
  )
  if (!waiting.length) throw new Error(`The order ${number} cannot be ${wanted}: ${isUnsent ? isCancelled : isShipped}`)
  return { order, waiting, isUnsent }
}

const isCancelled = 'it is cancelled.'
const isShipped = 'it is shipped already; what comes back is a return.'
