import assert from 'node:assert/strict'
import { buildCustomer, createCustomer } from '../../support/customer-bodies.ts'
import { address, getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { post } from '../../support/write.ts'
import { count, type Shop } from '../shop.ts'

/** A shopper, two SKUs that the shop sells, and the orders that come of them. */
export async function ordersOf({ api, simulator, sold }: Shop) {
  const { tee, hat } = sold()
  const customerId: string = (await createCustomer(api, buildCustomer({ mobile: '0400 123 456' }))).id
  simulator.ledger.clear()
  /** An order of one tee, paid in full. */
  const order = (more: object = {}) => ({
    customerId,
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku: tee.sku, quantity: 1 }],
    payments: [{ gateway: 'paypal', amount: tee.price, reference: 'PAYID-1' }],
    ...more,
  })
  const prices = new Map([tee, hat].map(({ sku, price }) => [sku, toCents(price)]))
  /** Places an order of these lines, paid in full; returns its record. */
  async function buy(lines: { sku: string; quantity: number }[]) {
    const due = lines.reduce((total, { sku, quantity }) => total + quantity * (prices.get(sku) ?? 0), 0)
    return getCreatedRecord(
      await post(api, '/orders', order({ lines, payments: [{ gateway: 'visa', amount: toDollars(due) }] })),
    )
  }
  const upstream = (id: string) => simulator.state.orders.get(Number(id)) ?? assert.fail(`no order ${id}`)
  const placed = () => simulator.ledger.effectsOf('order created').length
  const posts = () => simulator.ledger.callsTo({ method: 'POST' })
  const rows = () => count(api, api, 'sales_order')
  const validated = async (number: string, pin: string, amount: string) => {
    const response = await post(api, '/vouchers/validate', { number, pin, amount })
    assert.equal(response.status, 200, response.text)
    return { number, validationId: response.json.data.validationId as string }
  }
  const voucher = (number: string) => simulator.state.vouchers.get(number) ?? assert.fail()
  return { tee, hat, customerId, order, buy, upstream, placed, posts, rows, validated, voucher }
}
