import type { OpenOrder, SyncBatch, SyncRequest, SyncRows } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import { readLineStatuses } from '../mapping/order-from-xml.ts'
import { isId } from '../queries/is-id.ts'
import { readOrderPages } from '../queries/order-search.ts'
import { toStoredStatus } from '../queries/stored-orders.ts'
import { readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { refreshed } from './refreshes.ts'

/**
 * Where the orders stand that are still `processing` here. The live orders of a person are what every release can tell: one call for
 * each customer with such an order, whatever else has been ordered in the shop.
 */
export async function* fetchOrders(client: Client, { signal, openOrders }: SyncRequest): AsyncGenerator<SyncBatch> {
  // One that is no identifier there is of the back office before, and nobody's in this one.
  const open = (await openOrders()).filter(({ customerId }) => isId(customerId))
  const byCustomer = Map.groupBy(open, ({ customerId }) => customerId)
  const customers = async function* () {
    // By chance, so that many whose answers cannot be read do not hide those behind them for ever.
    for (const id of shuffled(byCustomer.keys())) yield { id, version: '' }
  }
  const batches = refreshed(customers(), async ({ id }) => {
    const wanted = new Map(byCustomer.get(id)?.map(order => [order.id, order]))
    const rows: SyncRows['orders'][] = []
    for await (const page of readOrderPages(client, id, signal))
      for (const order of page) {
        const open = wanted.get(readText(order, 'Id') ?? '')
        if (open) rows.push(...followed(order, open))
      }
    return { rows: { orders: rows } }
  })
  // Whom it asks about follows from the orders: no refresh has to be noted.
  for await (const { refreshed: _, ...batch } of batches) yield batch
}

const shuffled = <T>(all: Iterable<T>) =>
  [...all]
    .map(one => ({ one, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one)

/** The steps of an order that is open here, as the back office has it; none where nothing has happened. */
export function followed(order: Xml, { id, lines }: OpenOrder): SyncRows['orders'][] {
  const seen = readLineStatuses(order, lines)
  const steps = lines.flatMap(({ sequence, isOpen }) => {
    const status = toStoredStatus(seen.get(sequence) ?? 'processing')
    return !isOpen || status === 'processing' ? [] : [{ sequence, status }]
  })
  return steps.length ? [{ orderId: id, steps }] : []
}
