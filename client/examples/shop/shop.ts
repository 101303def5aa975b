import {
  ConflictError,
  type OrderLineInput,
  type PostalAddress,
  type Tillbridge,
  TillbridgeError,
} from '../../src/index.ts'

/** A checkout request. `basket` is the shop's own number: each basket is ordered once. */
export interface Checkout {
  basket: string
  customerId: string
  address: PostalAddress
  lines: (OrderLineInput & { price: string })[]
  voucher?: Voucher
}

interface Voucher {
  number: string
  pin: string
}

const cents = (amount: string) => Math.round(Number(amount) * 100)
const formatAmount = (amount: number) => (amount / 100).toFixed(2)

export function createShop(client: Tillbridge) {
  const stock = new Map<string, Promise<number>>()

  /** Loads the sellable quantity of a SKU in all stores. */
  async function loadSellable(sku: string): Promise<number> {
    let units = 0
    for await (const level of client.inventory.list({ sku })) units += level.sellable
    return units
  }

  return {
    /** Returns the stock for a product page, cached until a webhook reports a change. */
    async getStock(sku: string): Promise<number> {
      const cached = stock.get(sku) ?? loadSellable(sku)
      stock.set(sku, cached)
      cached.catch(() => stock.delete(sku))
      return cached
    },

    clearStock: () => stock.clear(),

    /** Locks the voucher and places the order, paid by voucher as far as possible and the rest by card. */
    async checkOut({ basket, customerId, address, lines, voucher }: Checkout, shopperIp: string) {
      const due = lines.reduce((sum, { price, quantity }) => sum + cents(price) * quantity, 0)
      const lock = voucher && (await lockVoucher(basket, voucher, due, shopperIp))
      const rest = due - (lock ? cents(lock.amount) : 0)
      const payments = [
        ...(lock ? [{ gateway: 'gift-card', amount: lock.amount, voucher: lock.voucher }] : []),
        ...(rest > 0 ? [{ gateway: 'card', amount: formatAmount(rest), reference: basket }] : []),
      ]
      try {
        return await client.orders.place(
          { customerId, billingAddress: address, deliveryAddress: address, lines, payments },
          { idempotencyKey: `order ${basket}` },
        )
      } catch (error) {
        // A rejected order takes nothing from the voucher, so unlock it for other sales.
        const isRejected = error instanceof TillbridgeError && error.code !== 'outcome_unknown'
        if (lock && isRejected)
          await client.vouchers.lock(lock.voucher.number, { validationId: lock.voucher.validationId, lockSeconds: 0 })
        throw error
      }
    },
  }

  /** Locks the voucher for the amount due. Each request has a key derived from the basket, so a repeated checkout finds its earlier results. */
  async function lockVoucher(basket: string, { number, pin }: Voucher, due: number, shopperIp: string) {
    const options = (step: string) => ({ shopperIp, idempotencyKey: `${step} ${basket}` })
    const { availableAmount } = await client.vouchers.lookUp({ number, pin }, options('look'))
    const amount = formatAmount(Math.min(due, cents(availableAmount)))
    if (cents(amount) === 0) return
    const { validationId } = await client.vouchers.lock(number, { pin, amount, lockSeconds: 900 }, options('lock'))
    return validationId === undefined ? undefined : { amount, voucher: { number, validationId } }
  }
}

/** Returns the status and message for a shopper. */
export function describeError(error: unknown): [status: number, message: string] {
  if (error instanceof ConflictError && error.code === 'voucher_locked')
    return [409, 'This voucher is locked by another sale.']
  if (error instanceof TillbridgeError && error.code === 'voucher_not_accepted')
    return [403, 'The voucher number or PIN is wrong.']
  if (error instanceof TillbridgeError && (error.status ?? 500) < 500) return [422, error.message]
  return [503, 'Please try again in a moment.']
}
