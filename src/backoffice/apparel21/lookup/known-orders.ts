import type { Database } from '../../../db.ts'
import type { LineStatus, OrderName } from '../../../domain/orders/orders.ts'
import type { Write } from '../../../domain/write.ts'
import type { Service } from '../../../settings.ts'
import { knownCustomers } from '../../../store/customers/customers.ts'
import { beginChange } from '../../../store/lists/change.ts'
import { followLines, type HeldLine, linesOf, stampOrder } from '../../../store/orders/lines.ts'
import { type HeldOrder, holdOrder, orderNamed } from '../../../store/orders/orders.ts'
import { orderIds, statusesIn } from '../records/order-read.ts'
import { idOf } from '../records/persons.ts'
import type { Xml } from '../xml/xml.ts'
import { adopt, readable } from './adopted-orders.ts'
import { orderById, orderNumbered } from './order-search.ts'
import { isCustomer, personById, prepareFor, storePerson } from './people.ts'
import type { Upstream } from './upstream.ts'

/** An order that is held, with its lines as the back office sees them. */
export interface KnownOrder {
  order: HeldOrder
  /** A line that came back some other way has nothing left to return. */
  lines: HeldLine[]
}

/**
 * Holds an order and brings its lines up to date. One that our tables do not have, since it was placed before there was this service, is
 * fetched, and becomes one of ours. Undefined: there is none.
 */
export async function knownOrder(
  upstream: Upstream,
  write: Write,
  idOrNumber: string,
): Promise<KnownOrder | undefined> {
  const { tx, service } = write
  const { client, release } = upstream
  const own = await orderNamed(tx, service, { idOrNumber })
  if (own !== undefined) {
    const order = await holdOrder(tx, service, { id: own })
    return order && upToDate(write, order, await orderById(client, release, order.id, order.customerId))
  }
  const live = await liveOrder(upstream, { idOrNumber })
  if (!live) return
  const { id, personId } = readable(client, () => orderIds(live))
  const held = await holdOrder(tx, service, { id })
  if (held) return upToDate(write, held, live)
  if (!(await isCustomer(upstream, write, personId))) return
  const order = await adopt(upstream, write, live)
  return order && upToDate(write, order, live)
}

/**
 * The identifier of an order in our tables. Only what they do not have is asked for: it becomes one of ours, in a transaction that is
 * open for no longer than it takes to store it.
 */
export async function findOrder(
  upstream: Upstream,
  { db, service }: { db: Database; service: Service },
  name: OrderName,
): Promise<string | undefined> {
  const own = await orderNamed(db, service, name)
  if (own !== undefined) return own
  const { client } = upstream
  const live = await liveOrder(upstream, name)
  if (!live) return
  const { id, personId } = readable(client, () => orderIds(live))
  const known = await orderNamed(db, service, { idOrNumber: id })
  if (known === id) return id
  const [customer] = await knownCustomers(db, service, [personId])
  const person = customer ? undefined : await personById(client, personId)
  if (!customer && (!person || idOf(person) !== personId)) return
  if (person) await prepareFor(upstream, db, service, person)
  return db.transaction(async tx => {
    if (person) await storePerson(upstream, { tx, service }, person)
    return (await adopt(upstream, { tx, service }, live))?.id
  })
}

/** An order as the back office has it now: by its identifier (releases that can), or by its number. */
async function liveOrder({ client, release }: Upstream, name: OrderName): Promise<Xml | undefined> {
  const found =
    'number' in name
      ? await orderNumbered(client, name.number)
      : ((await orderById(client, release, name.idOrNumber)) ?? (await orderNumbered(client, name.idOrNumber)))
  if (!found) return
  const { id, personId } = readable(client, () => orderIds(found))
  // What is found by a number is as it was posted.
  return (await orderById(client, release, id, personId)) ?? found
}

/** Follows the steps of lines that are shipped or cancelled by now. */
async function upToDate({ tx, service }: Write, order: HeldOrder, live: Xml | undefined): Promise<KnownOrder> {
  const before = await linesOf(tx, service, order)
  const seen = live ? statusesIn(live, before) : new Map<number, LineStatus>()
  const steps = before.flatMap(({ sequence, status }) => {
    const now = seen.get(sequence) ?? status
    return status === 'processing' && now !== status ? [{ sequence, status: stepTo(now) }] : []
  })
  if (steps.length) {
    const change = await beginChange(tx, service, ['retail_transaction'])
    await followLines(tx, service, order, steps)
    await stampOrder(tx, service, order, change)
  }
  const lines = steps.length ? await linesOf(tx, service, order) : before
  const isBack = ({ sequence, returned }: HeldLine) => returned === 0 && seen.get(sequence) === 'returned'
  return { order, lines: lines.map(line => (isBack(line) ? { ...line, returned: line.quantity } : line)) }
}

/** What is returned was shipped; how much of it came back is counted by returns. */
export const stepTo = (status: LineStatus): LineStatus => (status === 'returned' ? 'shipped' : status)
