import type { Database, Db } from '../../db.ts'
import type { OrderReads } from '../../domain/orders/orders.ts'
import { ApiError, orApiError } from '../../errors.ts'
import type { Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { knownCustomers } from '../../store/customers/customers.ts'
import { knownOrders } from '../../store/orders/orders.ts'
import { followOrders, openOrders } from '../../store/sync/orders.ts'
import { adopt, readable } from './lookup/adopted-orders.ts'
import { upToDate } from './lookup/known-orders.ts'
import { ordersOf } from './lookup/order-search.ts'
import type { Upstream } from './lookup/upstream.ts'
import { followed } from './pull/orders.ts'
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
  async bringOrders(reading, customerId) {
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
  const orders = new Map<string, Xml>()
  for await (const order of ordersOf(upstream.client, customerId)) orders.set(text(order, 'Id') ?? '', order)
  const known = await knownOrders(db, service, [...orders.keys()])
  const steps = (await openOrders(db, service, customerId)).flatMap(open => {
    const order = orders.get(open.id)
    return order ? followed(order, open) : []
  })
  await followOrders(db, service, steps)
  let fault: ApiError | undefined
  for (const [id, order] of orders)
    if (!known.has(id))
      await db
        .transaction(tx => take(upstream, tx, reading, { order, customerId }))
        .catch(error => {
          fault = orApiError(error)
        })
  return fault && new ApiError(fault.code, 'The back office tells of orders that cannot be read, and are not shown.')
}

async function take(
  upstream: Upstream,
  tx: Db,
  { keys, service }: Reading,
  { order, customerId }: { order: Xml; customerId: string },
) {
  const { personId } = readable(upstream.client, () => orderIds(order))
  // They may have been erased while the back office thought.
  const [customer] = await knownCustomers(tx, service, [customerId])
  if (!customer || personId !== customerId) return
  const adopted = await adopt(upstream, tx, { keys, service }, order)
  if (adopted) await upToDate(tx, service, adopted, order)
}
