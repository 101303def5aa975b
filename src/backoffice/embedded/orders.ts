import { decimalsOf } from '../../domain/money.ts'
import { numberTaken, priceOrder } from '../../domain/orders/check.ts'
import type { OrderInput, WrittenRecord } from '../../domain/orders/orders.ts'
import { forEachVoucher } from '../../domain/orders/voucher-payments.ts'
import type { Finishing } from '../../domain/write.ts'
import { faulty } from '../../errors.ts'
import { refuse } from '../../refuse.ts'
import { holdStock, moveStock, stockSources } from '../../store/goods/stock.ts'
import { beginChange } from '../../store/lists/change.ts'
import { withNextNumber } from '../../store/orders/numbers.ts'
import { type HeldOrder, orderRecord } from '../../store/orders/orders.ts'
import { insertLines, insertOrder, insertPayments, knownToOrder, variantsOf } from '../../store/orders/placing.ts'
import { giftCardSkuId } from '../vouchers/gift-card.ts'
import { ship } from './fulfilment.ts'
import { drawVoucher } from './vouchers/draw.ts'

/** Places an order in our own tables. Rows are held in one order: number, vouchers, stock, reward account. */
export async function placeOrder(write: Finishing, input: OrderInput): Promise<WrittenRecord> {
  const { tx, service } = write
  const { currency, shipOrders } = service.settings
  const decimals = decimalsOf(currency)
  const skus = input.lines.map(line => line.sku)
  const variants = new Map((await variantsOf(tx, service, skus, decimals)).map(variant => [variant.sku, variant]))
  const known = { ...(await knownToOrder(tx, service, input)), giftCardSkuId: await giftCardSkuId(tx, service) }
  const priced = priceOrder(input, { ...known, variants }, currency, decimals)
  refuse(priced.faults)

  const insert = (number: string) => insertOrder(tx, service, { number }, input, { ...priced, currency, decimals })
  const order =
    typeof input.orderNumber === 'string'
      ? await insert(input.orderNumber)
      : await withNextNumber(tx, service, 'order', insert)
  if (!order) throw faulty([numberTaken('/orderNumber', `There is an order ${input.orderNumber} already.`)])

  await drawVouchers(write, order, input)
  const skuIds = [...variants.values()].map(variant => variant.skuId)
  const sources = await stockSources(tx, service, skuIds, input.pickupStoreNumber ?? undefined)
  const moves = input.lines.flatMap(({ sku, quantity }) => {
    const skuId = variants.get(sku)?.skuId ?? ''
    const storeId = sources.get(skuId)
    return storeId === undefined ? [] : [{ storeId, skuId, quantity: -quantity }]
  })
  await holdStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock', 'retail_transaction'])
  await insertLines(tx, service, order, input.lines, priced.lines, variants, sources)
  await insertPayments(tx, service, order, input.payments)
  await moveStock(tx, service, change, moves)
  if (shipOrders === 'immediately') await ship(tx, service, change, order)
  const record = await orderRecord(tx, service, order.id)
  if (!record) throw new Error('what was just written is there')
  return { id: order.id, ...record }
}

/** Draws on the vouchers that pay; throws what stands against all of them. */
const drawVouchers = ({ tx, service, keys }: Finishing, { number: orderNumber }: HeldOrder, { payments }: OrderInput) =>
  forEachVoucher(payments, draw => drawVoucher(tx, keys, service, { ...draw, orderNumber }))
