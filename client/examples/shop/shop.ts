import {
  ConflictError,
  type OrderLineInput,
  type PostalAddress,
  type Tillbridge,
  TillbridgeError,
} from '../../src/index.ts'

/** What a shopper sends to the check-out. `basket` is the shop's own number of it: a basket is ordered once. */
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
const amountOf = (cents: number) => (cents / 100).toFixed(2)

export function makeShop(client: Tillbridge) {
  const stock = new Map<string, Promise<number>>()

  /** What can be sold of a SKU, in all stores together. */
  async function sellable(sku: string): Promise<number> {
    let units = 0
    for await (const level of client.inventory.list({ sku })) units += level.sellable
    return units
  }

  return {
    /** What the page of a product shows: asked for once, and again when a webhook has told of a change. */
    async stockOf(sku: string): Promise<number> {
      const known = stock.get(sku) ?? sellable(sku)
      stock.set(sku, known)
      known.catch(() => stock.delete(sku))
      return known
    },

    forgetStock: () => stock.clear(),

    /** Holds the voucher, orders, and pays: as much as there is with the voucher, the rest by card. */
    async checkOut({ basket, customerId, address, lines, voucher }: Checkout, shopperIp: string) {
      const due = lines.reduce((sum, { price, quantity }) => sum + cents(price) * quantity, 0)
      const held = voucher && (await hold(basket, voucher, due, shopperIp))
      const rest = due - (held ? cents(held.amount) : 0)
      const payments = [
        ...(held ? [{ gateway: 'gift-card', amount: held.amount, voucher: held.voucher }] : []),
        ...(rest > 0 ? [{ gateway: 'card', amount: amountOf(rest), reference: basket }] : []),
      ]
      try {
        return await client.orders.place(
          { customerId, billingAddress: address, deliveryAddress: address, lines, payments },
          { idempotencyKey: `order ${basket}` },
        )
      } catch (error) {
        // What was refused takes nothing from the voucher, which need not be kept from other sales.
        const isRefused = error instanceof TillbridgeError && error.code !== 'outcome_unknown'
        if (held && isRefused)
          await client.vouchers.lock(held.voucher.number, { validationId: held.voucher.validationId, lockSeconds: 0 })
        throw error
      }
    },
  }

  /** Each step has a key of the basket's: sent again, a check-out finds what it did before. */
  async function hold(basket: string, { number, pin }: Voucher, due: number, shopperIp: string) {
    const options = (step: string) => ({ shopperIp, idempotencyKey: `${step} ${basket}` })
    const { availableAmount } = await client.vouchers.lookUp({ number, pin }, options('look'))
    const amount = amountOf(Math.min(due, cents(availableAmount)))
    if (cents(amount) === 0) return
    const { validationId } = await client.vouchers.lock(number, { pin, amount, lockSeconds: 900 }, options('hold'))
    return validationId === undefined ? undefined : { amount, voucher: { number, validationId } }
  }
}

/** What a shopper is told of an error. */
export function wordsFor(error: unknown): [status: number, words: string] {
  if (error instanceof ConflictError && error.code === 'voucher_locked')
    return [409, 'Another sale holds this voucher.']
  if (error instanceof TillbridgeError && error.code === 'voucher_not_accepted') return [403, 'Number or PIN is wrong.']
  if (error instanceof TillbridgeError && (error.status ?? 500) < 500) return [422, error.message]
  return [503, 'Please try again in a moment.']
}
