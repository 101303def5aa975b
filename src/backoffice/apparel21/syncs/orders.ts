import type { OpenOrder, SyncBatch, SyncRequest, SyncRows } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import { isId } from '../client/request.ts'
import { findRetailApiError } from '../client/retail-api-error.ts'
import { readLineStatuses } from '../mapping/order-from-xml.ts'
import { deriveShipments, parseShipments, readTrackingNumbers } from '../mapping/shipments.ts'
import { readOrderPages } from '../queries/order-search.ts'
import { toStoredStatus } from '../queries/stored-orders.ts'
import { findElements, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { createLocationFinder } from './locations.ts'
import { refreshRecords } from './refreshes.ts'

/**
 * Fetches the status and the shipments of open orders. Every release can list a person's current orders, so each customer with such an order
 * takes one call, and each order that has shipped takes another.
 */
export async function* fetchOrders(client: Client, request: SyncRequest): AsyncGenerator<SyncBatch> {
  const { signal, openOrders } = request
  const findLocations = createLocationFinder(client, request)
  // An invalid identifier comes from a previous back office. This back office has no such person.
  const open = (await openOrders()).filter(({ customerId }) => isId(customerId))
  const byCustomer = Map.groupBy(open, ({ customerId }) => customerId)
  const readCustomers = async function* () {
    // In random order, so that customers with unreadable responses don't block the others forever.
    for (const id of shuffle(byCustomer.keys())) yield { id, version: '' }
  }
  const batches = refreshRecords(readCustomers(), async ({ id }) => {
    const openOrdersById = new Map(byCustomer.get(id)?.map(order => [order.id, order]))
    const rows = { orders: [] as SyncRows['orders'][], shipments: [] as SyncRows['shipments'][] }
    const warehouses = new Set<string>()
    for await (const page of readOrderPages(client, id, signal))
      for (const order of page) {
        for (const warehouse of readWarehouses(order)) warehouses.add(warehouse)
        const openOrder = openOrdersById.get(readText(order, 'Id') ?? '')
        if (!openOrder) continue
        rows.orders.push(...getLineChanges(order, openOrder))
        if (needsShipments(order, openOrder))
          rows.shipments.push(await fetchShipments(client, order, openOrder, signal))
      }
    return { rows: { ...rows, ...(await findLocations([...warehouses].map(storeId => ({ storeId })))) } }
  })
  for await (const { completedRefresh, ...batch } of batches)
    yield { ...batch, ...(completedRefresh && { polledCustomer: completedRefresh }) }
}

/** Returns the warehouses that an order is shipped from, if they are identifiers. */
const readWarehouses = (order: Xml) =>
  [order, ...findElements(order, 'OrderDetails', 'OrderDetail')].flatMap(element => {
    const id = readText(element, 'WarehouseId')
    return id !== null && isId(id) && id !== '0' ? id : []
  })

/** True if the back office has shipped something that no stored shipment contains. */
function needsShipments(order: Xml, { lines, trackingNumbers }: OpenOrder): boolean {
  const isShipped = [...readLineStatuses(order, lines).values()].some(
    status => status === 'shipped' || status === 'returned',
  )
  return (
    (isShipped && trackingNumbers === null) ||
    readTrackingNumbers(order).some(number => !trackingNumbers?.includes(number))
  )
}

/** Fetches the shipments of an order. If the back office returns none, they are derived from the order's lines. */
async function fetchShipments(client: Client, order: Xml, { id, customerId }: OpenOrder, signal: AbortSignal) {
  const path = ['Persons', customerId, 'Shipments', id]
  const root = await client.document({ endpoint: 'orders', path, roots: ['Shipments'], signal }).catch(error => {
    // An older release doesn't have the call.
    if (findRetailApiError(error)) return undefined
    throw error
  })
  const matches = root ? parseShipments(root, client.connection.timeZone) : []
  return { orderId: id, shipments: matches.length ? matches : deriveShipments(order) }
}

const shuffle = <T>(values: Iterable<T>) =>
  [...values]
    .map(value => ({ value, position: Math.random() }))
    .sort((a, b) => a.position - b.position)
    .map(({ value }) => value)

/** Returns the line changes of an open order. Returns an empty list if nothing has changed. */
export function getLineChanges(order: Xml, { id, lines }: OpenOrder): SyncRows['orders'][] {
  const statuses = readLineStatuses(order, lines)
  const steps = lines.flatMap(({ sequence, isOpen }) => {
    const status = toStoredStatus(statuses.get(sequence) ?? 'processing')
    return !isOpen || status === 'processing' ? [] : [{ sequence, status }]
  })
  return steps.length ? [{ orderId: id, steps }] : []
}
