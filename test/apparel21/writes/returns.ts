import assert from 'node:assert/strict'
import { buildReturn } from '../../support/order-shop.ts'
import { post } from '../../support/write.ts'
import { count, type Shop } from '../shop.ts'
import type { ordersOf } from './orders.ts'

type Units = { [sku: string]: number }

/** Returns the helpers for returns of orders, and the records of the back office and of our tables. */
export function returnsOf({ api, simulator }: Shop, { buy }: Pick<Awaited<ReturnType<typeof ordersOf>>, 'buy'>) {
  /** Places an order, and has it despatched unless it is to wait. */
  async function bought(units: Units, { isShipped = true } = {}) {
    const order = await buy(Object.entries(units).map(([sku, quantity]) => ({ sku, quantity })))
    if (isShipped) simulator.change({ kind: 'despatch-order', id: Number(order.id) })
    simulator.ledger.clear()
    return order
  }
  const giveBack = (orderId: string, units: Units, more: object = {}, headers = {}) =>
    post(api, `/orders/${encodeURIComponent(orderId)}/returns`, buildReturn(units, more), headers)
  const returnsThere = () => simulator.ledger.effectsOf('return created').length
  const rows = () => count(api, api, 'sales_return')
  const returnable = async (orderId: string) => (await api.get(`/orders/${orderId}/returnable`)).json.data
  const statuses = async (orderId: string) =>
    (await api.get(`/orders/${orderId}`)).json.data.lines.map((line: { status: string }) => line.status)
  const lastReturn = () => [...simulator.state.returns.values()].at(-1) ?? assert.fail()
  return { bought, giveBack, returnsThere, rows, returnable, statuses, lastReturn }
}
