import type { Simulator } from '../../../simulator/control/handle.ts'
import type { Order, Return } from '../../../simulator/shop/sales.ts'
import { type Db, sql } from '../../../src/database/db.ts'
import { type CheckResult, check } from '../expectations/check.ts'

/** The status that the API has for each code of the back office. Merged and unknown words keep the status `requested`. */
const statuses: Readonly<Record<number, string>> = { 5: 'refunded', 7: 'cancelled', 9: 'requested', 10: 'received' }

const toStatus = ({ status, lines }: Return) =>
  lines.every(line => line.status === 'Cancelled') ? 'cancelled' : (statuses[status] ?? `code ${status}`)

/** The consignment notes of an order's parcels, sorted. */
const listConsignmentNotes = ({ lines }: Order) =>
  [...new Set(lines.flatMap(({ status, conNote }) => (status !== 'Processing' && conNote ? conNote : [])))].sort()

/** Compares the status of returns, and the parcels of orders, with the back office. */
export async function checkReturnsAndShipments(
  { state }: Pick<Simulator, 'state'>,
  db: Db,
  serviceId: number,
): Promise<CheckResult[]> {
  const returns = await db.rows<{ id: string; status: string }>(sql`
    select back_office_id as id, status from sales_return where service_id = ${serviceId} and back_office_id is not null`)
  const orders = await db.rows<{ id: string; notes: string[] }>(sql`
    select o.id, array(select s.tracking_number from shipment s where s.service_id = o.service_id and s.order_id = o.id
                        order by s.tracking_number collate "C") as notes
      from sales_order o where o.service_id = ${serviceId}`)
  const comparedOrders = orders.flatMap(({ id, notes }) => {
    const order = state.orders.get(Number(id))
    return order ? { id, notes, expected: listConsignmentNotes(order) } : []
  })
  return [
    check(
      'returns: each has the status of the back office',
      returns.flatMap(({ id, status }) => {
        const record = state.returns.get(Number(id))
        const expected = record && toStatus(record)
        return status === expected ? [] : [`${id} is ${status}, not ${expected}`]
      }),
      returns.length,
    ),
    check(
      'shipments: each order has the parcels of the back office',
      comparedOrders.flatMap(({ id, notes, expected }) =>
        notes.join() === expected.join()
          ? []
          : [`${id} has ${notes.join() || 'none'}, not ${expected.join() || 'none'}`],
      ),
      comparedOrders.length,
    ),
  ]
}
