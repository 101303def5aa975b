import type { Keys } from '../../../crypto/keys.ts'
import type { Database, Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { ApiError, ensureApiError } from '../../../errors/api-error.ts'
import { lockCustomerKeys } from '../../../store/customers/removal.ts'
import { findOrdersById, reassignOrders } from '../../../store/orders/orders.ts'
import { findOpenOrdersById, updateOrders } from '../../../store/sync/open-orders.ts'
import { findVoucherSale } from '../../../store/vouchers/upstream-sales.ts'
import type { OrderReads } from '../../port/orders.ts'
import { readOrderIds } from '../mapping/order-from-xml.ts'
import { parseOrThrow } from '../queries/adopted-orders.ts'
import { readOrderPages } from '../queries/order-search.ts'
import { adoptCurrentOrder } from '../queries/stored-orders.ts'
import type { Upstream } from '../queries/upstream.ts'
import { getLineChanges } from '../syncs/orders.ts'
import { readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

interface ReadContext {
  db: Database
  keys: Keys
  service: Service
}

/**
 * Refreshes all orders of a customer while the caller waits. Orders that were placed outside Tillbridge are stored too.
 * Pattern: read-through.
 */
export const createOrderReads = (upstream: Upstream): OrderReads => ({
  async refreshOrders(reading, customerId) {
    const syncedAt = new Date().toISOString()
    const key = `orders ${reading.service.id} ${customerId}`
    const error = await upstream.readThrough(key, () => refreshOrders(upstream, reading, customerId))
    if (!error) return { syncedAt }
    const detail = `${error.message} Orders that were placed elsewhere may be missing, and the status of others may be out of date.`
    return { syncedAt: undefined, warning: { code: error.code, detail } }
  },
})

/** Milliseconds for all pages. The caller stops waiting earlier. */
const timeoutMs = 60_000

/** Fetches a customer's orders and stores changes page by page. Logs and returns an error if an order could not be stored. */
async function refreshOrders(upstream: Upstream, reading: ReadContext, customerId: string) {
  const errors: unknown[] = []
  for await (const page of readOrderPages(upstream.client, customerId, AbortSignal.timeout(timeoutMs)))
    errors.push(...(await storePage(upstream, reading, customerId, page)))
  if (!errors.length) return
  upstream.client.connection.log?.warn(
    { err: new AggregateError(errors, 'orders rejected') },
    'customer orders rejected',
  )
  return new ApiError(
    ensureApiError(errors[0]).code,
    "The back office returned orders that can't be read. They are not shown.",
  )
}

/** Stores the changes of a page. Returns the errors of orders that could not be stored. */
async function storePage(upstream: Upstream, reading: ReadContext, customerId: string, page: readonly Xml[]) {
  const { db, service } = reading
  const orders = new Map(page.map(order => [readText(order, 'Id') ?? '', order]))
  const stored = await findOrdersById(db, service, [...orders.keys()])
  const storedIds = new Set(stored.map(({ id }) => id))
  const movedIds = stored
    .filter(order => order.customerId !== null && order.customerId !== customerId)
    .map(({ id }) => id)
  if (movedIds.length) await db.transaction(tx => reassignOrders(tx, service, movedIds, customerId))
  const changes = (await findOpenOrdersById(db, service, [...storedIds])).flatMap(storedOrder => {
    const order = orders.get(storedOrder.id)
    return order ? getLineChanges(order, storedOrder) : []
  })
  await updateOrders(db, service, changes)
  const errors: unknown[] = []
  for (const [id, order] of orders)
    if (!storedIds.has(id))
      await db
        .transaction(tx => storeOrder(upstream, tx, reading, { order, customerId }))
        .catch(error => errors.push(error))
  return errors
}

async function storeOrder(
  upstream: Upstream,
  tx: Db,
  { keys, service }: ReadContext,
  { order, customerId }: { order: Xml; customerId: string },
) {
  const { number, personId } = parseOrThrow(upstream.client, () => readOrderIds(order))
  // The customer may have been erased while the back office responded. The lock prevents an erasure until the commit.
  const [customer] = await lockCustomerKeys(tx, service, [customerId])
  if (!customer || personId !== customerId) return
  // Voucher sales are skipped: the receiver must not see a present before it is delivered.
  if (await findVoucherSale(tx, service, number)) return
  await adoptCurrentOrder(upstream, tx, { keys, service }, order)
}
