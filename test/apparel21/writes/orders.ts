import assert from 'node:assert/strict'
import { buildCustomer, createCustomer } from '../../support/customer-bodies.ts'
import { address, getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { post } from '../../support/write.ts'
import { countRows, type Shop } from '../shop.ts'

/** Creates a customer and returns functions to place orders of two SKUs and to inspect the orders. */
export async function createOrderFixture({ api, simulator, findItems }: Shop) {
  const { tee, hat } = findItems()
  const customerId: string = (await createCustomer(api, buildCustomer({ mobile: '0400 123 456' }))).id
  simulator.ledger.clear()
  /** Builds an order of one tee, paid in full. */
  const buildOrder = (more: object = {}) => ({
    customerId,
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku: tee.sku, quantity: 1 }],
    payments: [{ gateway: 'paypal', amount: tee.price, reference: 'PAYID-1' }],
    ...more,
  })
  const prices = new Map([tee, hat].map(({ sku, price }) => [sku, toCents(price)]))
  /** Places an order of these lines, paid in full. Returns its record. */
  async function buy(lines: { sku: string; quantity: number }[]) {
    const due = lines.reduce((total, { sku, quantity }) => total + quantity * (prices.get(sku) ?? 0), 0)
    return getCreatedRecord(
      await post(api, '/orders', buildOrder({ lines, payments: [{ gateway: 'visa', amount: toDollars(due) }] })),
    )
  }
  const findUpstreamOrder = (id: string) =>
    simulator.state.orders.get(Number(id)) ?? assert.fail(`order ${id} not found in the back office`)
  const countPlaced = () => simulator.ledger.findEffects('order created').length
  const listPosts = () => simulator.ledger.findCalls({ method: 'POST' })
  const countOrders = () => countRows(api, api, 'sales_order')
  const validateVoucher = async (number: string, pin: string, amount: string) => {
    const response = await post(api, '/vouchers/validate', { number, pin, amount })
    assert.equal(response.status, 200, response.text)
    return { number, validationId: response.json.data.validationId as string }
  }
  const findVoucher = (number: string) => simulator.state.vouchers.get(number) ?? assert.fail()
  return {
    tee,
    hat,
    customerId,
    buildOrder,
    buy,
    findUpstreamOrder,
    countPlaced,
    listPosts,
    countOrders,
    validateVoucher,
    findVoucher,
  }
}
