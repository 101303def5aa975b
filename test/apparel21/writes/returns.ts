import assert from 'node:assert/strict'
import { buildReturn } from '../../support/order-shop.ts'
import { post } from '../../support/write.ts'
import { countRows, type Shop } from '../shop.ts'
import type { createOrderFixture } from './orders.ts'

type Units = { [sku: string]: number }

/** Returns functions to create returns and to inspect them in the back office and in our tables. */
export function createReturnFixture(
  { api, simulator }: Shop,
  { buy }: Pick<Awaited<ReturnType<typeof createOrderFixture>>, 'buy'>,
) {
  /** Places an order and, unless `isShipped` is false, despatches it in the back office. */
  async function placeOrder(units: Units, { isShipped = true } = {}) {
    const order = await buy(Object.entries(units).map(([sku, quantity]) => ({ sku, quantity })))
    if (isShipped) simulator.change({ kind: 'despatch-order', id: Number(order.id) })
    simulator.ledger.clear()
    return order
  }
  const postReturn = (orderId: string, units: Units, more: object = {}, headers = {}) =>
    post(api, `/orders/${encodeURIComponent(orderId)}/returns`, buildReturn(units, more), headers)
  const countUpstreamReturns = () => simulator.ledger.findEffects('return created').length
  const countReturns = () => countRows(api, api, 'sales_return')
  const getReturnable = async (orderId: string) => (await api.get(`/orders/${orderId}/returnable`)).json.data
  const getStatuses = async (orderId: string) =>
    (await api.get(`/orders/${orderId}`)).json.data.lines.map((line: { status: string }) => line.status)
  const getLastReturn = () => [...simulator.state.returns.values()].at(-1) ?? assert.fail()
  return { placeOrder, postReturn, countUpstreamReturns, countReturns, getReturnable, getStatuses, getLastReturn }
}
