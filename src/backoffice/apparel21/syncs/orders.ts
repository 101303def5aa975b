import type { OpenOrder, SyncBatch, SyncRequest, SyncRows } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import { isId } from '../client/request.ts'
import { readLineStatuses } from '../mapping/order-from-xml.ts'
import { readOrderPages } from '../queries/order-search.ts'
import { toStoredStatus } from '../queries/stored-orders.ts'
import { readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { refreshRecords } from './refreshes.ts'

/**
 * Fetches the status of orders that are still `processing` here. Every release can list a person's current orders, so each customer with
 * such an order takes one call.
 */
export async function* fetchOrders(client: Client, { signal, openOrders }: SyncRequest): AsyncGenerator<SyncBatch> {
  // An invalid identifier comes from a previous back office. This back office has no such person.
  const open = (await openOrders()).filter(({ customerId }) => isId(customerId))
  const byCustomer = Map.groupBy(open, ({ customerId }) => customerId)
  const customers = async function* () {
    // In random order, so that customers with unreadable responses don't block the others forever.
    for (const id of shuffle(byCustomer.keys())) yield { id, version: '' }
  }
  const batches = refreshRecords(customers(), async ({ id }) => {
    const openOrdersById = new Map(byCustomer.get(id)?.map(order => [order.id, order]))
    const rows: SyncRows['orders'][] = []
    for await (const page of readOrderPages(client, id, signal))
      for (const order of page) {
        const openOrder = openOrdersById.get(readText(order, 'Id') ?? '')
        if (openOrder) rows.push(...getLineChanges(order, openOrder))
      }
    return { rows: { orders: rows } }
  })
  // The open orders determine the customers, so no refresh needs to be recorded.
  for await (const { refreshed: _, ...batch } of batches) yield batch
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
