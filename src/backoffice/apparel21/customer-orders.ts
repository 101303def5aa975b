import type { Database, Db } from '../../db.ts'
import type { OrderReads } from '../../domain/orders/orders.ts'
import { ApiError, orApiError } from '../../errors.ts'
import type { Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { knownCustomers } from '../../store/customers/customers.ts'
import { holdOrder, settledAmong } from '../../store/orders/orders.ts'
import { adopt, readable } from './lookup/adopted-orders.ts'
import { upToDate } from './lookup/known-orders.ts'
import { ordersOf } from './lookup/order-search.ts'
import type { Upstream } from './lookup/upstream.ts'
import { orderIds } from './records/order-read.ts'
import { text } from './xml/values.ts'
import type { Xml } from './xml/xml.ts'

interface Reading {
  db: Database
  keys: Keys
  service: Service
}

/** All orders of a customer are asked for while the caller waits, and written through: those that were placed elsewhere become ours. */
export const orderReads = (upstream: Upstream): OrderReads => ({
  async followOrders(reading, customerId) {
    const syncedAt = new Date().toISOString()
    const key = `orders ${reading.service.id} ${customerId}`
    const fault = await upstream.asked(key, () => bring(upstream, reading, customerId))
    if (!fault) return { syncedAt }
    const detail = `${fault.message} Orders that were placed elsewhere may be missing, and others may be further than they look.`
    return { syncedAt: undefined, warning: { code: fault.code, detail } }
  },
})

/** Asks for the orders of a customer, and stores what is new of them. */
async function bring(upstream: Upstream, reading: Reading, customerId: string) {
  const { db, service } = reading
  const orders = await Array.fromAsync(ordersOf(upstream.client, customerId))
  const settled = await settledAmong(db, service, orders.map(idIn))
  let fault: ApiError | undefined
  for (const order of orders.filter(one => !settled.has(idIn(one))))
    await db
      .transaction(tx => take(upstream, tx, reading, { order, customerId }))
      .catch(error => {
        fault = orApiError(error)
      })
  return fault && new ApiError(fault.code, 'The back office tells of orders that cannot be read, and are not shown.')
}

const idIn = (order: Xml) => text(order, 'Id') ?? ''

async function take(
  upstream: Upstream,
  tx: Db,
  { keys, service }: Reading,
  { order, customerId }: { order: Xml; customerId: string },
) {
  const { id, personId } = readable(upstream.client, () => orderIds(order))
  // They may have been erased while the back office thought.
  const [customer] = await knownCustomers(tx, service, [customerId])
  if (!customer || personId !== customerId) return
  const held = (await holdOrder(tx, service, { id })) ?? (await adopt(upstream, tx, { keys, service }, order))
  if (held) await upToDate(tx, service, held, order)
}
