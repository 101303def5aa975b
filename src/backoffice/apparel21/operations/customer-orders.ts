import type { Keys } from '../../../crypto/keys.ts'
import type { Database, Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { ApiError, asApiError } from '../../../errors/api-error.ts'
import { holdCustomers } from '../../../store/customers/removal.ts'
import { handOver, knownOrders } from '../../../store/orders/orders.ts'
import { followOrders, openOrdersAmong } from '../../../store/sync/open-orders.ts'
import { voucherSaleNumbered } from '../../../store/vouchers/upstream-sales.ts'
import type { OrderReads } from '../../port/orders.ts'
import { readOrderIds } from '../mapping/order-from-xml.ts'
import { parseOrThrow } from '../queries/adopted-orders.ts'
import { readOrderPages } from '../queries/order-search.ts'
import { adoptCurrentOrder } from '../queries/stored-orders.ts'
import type { Upstream } from '../queries/upstream.ts'
import { followed } from '../syncs/orders.ts'
import { readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

interface ReadContext {
  db: Database
  keys: Keys
  service: Service
}

/** All orders of a customer are asked for while the caller waits, and written through: those that were placed elsewhere become ours. */
export const createOrderReads = (upstream: Upstream): OrderReads => ({
  async bringOrders(reading, customerId) {
    const syncedAt = new Date().toISOString()
    const key = `orders ${reading.service.id} ${customerId}`
    const fault = await upstream.readThrough(key, () => refreshOrders(upstream, reading, customerId))
    if (!fault) return { syncedAt }
    const detail = `${fault.message} Orders that were placed elsewhere may be missing, and others may be further than they look.`
    return { syncedAt: undefined, warning: { code: fault.code, detail } }
  },
})

/** Milliseconds that all pages may take, while nobody waits for them any more. */
const timeoutMs = 60_000

/** Asks for the orders of a customer, and stores what is new of them, page by page. */
async function refreshOrders(upstream: Upstream, reading: ReadContext, customerId: string) {
  let fault: ApiError | undefined
  for await (const page of readOrderPages(upstream.client, customerId, AbortSignal.timeout(timeoutMs)))
    fault = (await storePage(upstream, reading, customerId, page)) ?? fault
  return fault && new ApiError(fault.code, "The back office returned orders that can't be read. They are not shown.")
}

/** Stores what is new in a page; answers what is wrong with one of its orders. */
async function storePage(upstream: Upstream, reading: ReadContext, customerId: string, page: readonly Xml[]) {
  const { db, service } = reading
  const orders = new Map(page.map(order => [readText(order, 'Id') ?? '', order]))
  const found = await knownOrders(db, service, [...orders.keys()])
  const known = new Set(found.map(({ id }) => id))
  const ofOthers = found.filter(mine => mine.customerId !== null && mine.customerId !== customerId).map(({ id }) => id)
  if (ofOthers.length) await db.transaction(tx => handOver(tx, service, ofOthers, customerId))
  const steps = (await openOrdersAmong(db, service, [...known])).flatMap(mine => {
    const order = orders.get(mine.id)
    return order ? followed(order, mine) : []
  })
  await followOrders(db, service, steps)
  let fault: ApiError | undefined
  for (const [id, order] of orders)
    if (!known.has(id))
      await db
        .transaction(tx => storeOrder(upstream, tx, reading, { order, customerId }))
        .catch(error => {
          fault = asApiError(error)
        })
  return fault
}

async function storeOrder(
  upstream: Upstream,
  tx: Db,
  { keys, service }: ReadContext,
  { order, customerId }: { order: Xml; customerId: string },
) {
  const { number, personId } = parseOrThrow(upstream.client, () => readOrderIds(order))
  // They may have been erased while the back office thought; from here on they are not before this is over.
  const [customer] = await holdCustomers(tx, service, [customerId])
  if (!customer || personId !== customerId) return
  // A present is no business of whom it is for before it is given.
  if (await voucherSaleNumbered(tx, service, number)) return
  await adoptCurrentOrder(upstream, tx, { keys, service }, order)
}
