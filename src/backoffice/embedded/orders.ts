import { decimalsOf } from '../../domain/money.ts'
import { numberTaken, priceOrder } from '../../domain/order-check.ts'
import type { OrderInput, OrderWrites } from '../../domain/orders.ts'
import type { Write } from '../../domain/write.ts'
import { ApiError, type Fault, faulty } from '../../errors.ts'
import { beginChange } from '../../store/change.ts'
import { knownCustomers } from '../../store/customers.ts'
import { gatewayNames } from '../../store/gateways.ts'
import { withNextNumber } from '../../store/order-numbers.ts'
import { insertLines, insertOrder, insertPayments, orderNumberTaken, variantsOf } from '../../store/order-placing.ts'
import { type HeldOrder, orderRecord } from '../../store/orders.ts'
import { holdStock, moveStock, stockSources, storesByNumber } from '../../store/stock.ts'
import { drawVoucher } from '../../store/voucher-draw.ts'
import { ship } from './fulfilment.ts'
import { createReturn } from './returns.ts'

/** Orders written into our own tables. Rows are held in one order: number, vouchers, stock, reward account. */
export const orderWrites: OrderWrites = {
  async placeOrder(write, input) {
    const { tx, service } = write
    const { currency, shipOrders } = service.settings
    const decimals = decimalsOf(currency)
    const skus = input.lines.map(line => line.sku)
    const variants = new Map((await variantsOf(tx, service, skus, decimals)).map(variant => [variant.sku, variant]))
    const prices = new Map([...variants].map(([sku, variant]) => [sku, variant.price]))
    const priced = priceOrder(input, { ...(await knownTo(write, input)), prices }, currency, decimals)
    const [fault, ...more] = priced.faults
    if (fault) throw faulty([fault, ...more])

    const insert = (number: string) => insertOrder(tx, service, number, input, { ...priced, currency, decimals })
    const order =
      input.orderNumber === undefined
        ? await withNextNumber(tx, service, 'order', insert)
        : await insert(input.orderNumber)
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
  },
  createReturn,
}

/** What the order names, the SKUs apart. */
async function knownTo({ tx, service }: Write, { customerId, pickupStoreNumber, orderNumber }: OrderInput) {
  const customers = await knownCustomers(tx, service, [customerId])
  const stores = pickupStoreNumber ? await storesByNumber(tx, service, [pickupStoreNumber]) : undefined
  return {
    customer: customers.length > 0,
    store: stores === undefined || stores.length > 0,
    numberTaken: orderNumber !== undefined && (await orderNumberTaken(tx, service, orderNumber)),
    gateways: await gatewayNames(tx, service),
  }
}

/** Draws on the vouchers that pay, in the order of their numbers; throws what stands against all of them. */
async function drawVouchers({ tx, service, keys }: Write, order: HeldOrder, { payments }: OrderInput) {
  const draws = payments.flatMap(({ voucher, amount }, i) =>
    voucher ? [{ ...voucher, amount, orderNumber: order.number, pointer: `/payments/${i}/voucher` }] : [],
  )
  const refusals: ApiError[] = []
  for (const draw of draws.sort((a, b) => (a.number < b.number ? -1 : 1)))
    try {
      await drawVoucher(tx, keys, service, draw)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      refusals.push(error)
    }
  const [refusal, ...others] = refusals
  if (!refusal) return
  const faults: Fault[] = refusals.flatMap(each => each.faults)
  // What goes with one voucher, like the time until which it is held, is said where it is the only one that is refused.
  if (others.length === 0) throw refusal
  throw new ApiError(refusal.code, faults.map(fault => fault.detail).join(' '), {
    faults,
    members: refusal.members,
    headers: refusal.headers,
  })
}
