import type { Database, Db } from '../../../db.ts'
import type { LineStatus, OrderName } from '../../../domain/orders/orders.ts'
import type { Write } from '../../../domain/write.ts'
import type { Keys } from '../../../secrets.ts'
import type { Service } from '../../../settings.ts'
import { knownCustomers } from '../../../store/customers/customers.ts'
import { beginChange } from '../../../store/lists/change.ts'
import { followLines, type HeldLine, linesOf, stampOrder } from '../../../store/orders/lines.ts'
import { type HeldOrder, holdOrder, orderNamed } from '../../../store/orders/orders.ts'
import { voucherSaleNumbered } from '../../../store/vouchers/upstream-sales.ts'
import { orderIds, statusesIn } from '../records/order-read.ts'
import { idOf } from '../records/persons.ts'
import type { Xml } from '../xml/xml.ts'
import { adopt, readable } from './adopted-orders.ts'
import { orderById, orderNumbered } from './order-search.ts'
import { isCustomer, personById, readied, storePerson } from './people.ts'
import type { Upstream } from './upstream.ts'

/** An order that is held, with its lines, brought up to date. */
interface KnownOrder {
  order: HeldOrder
  lines: HeldLine[]
  /** What is left of them: a line that came back some other way has nothing left to return. Where there is none such, the same as `lines`. */
  left: HeldLine[]
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
  const { service, keys, step, learn } = write
  const { client, release } = upstream
  const name = { idOrNumber }
  const { own, sale } = await step(async tx => ({
    own: await orderNamed(tx, service, name),
    sale: await voucherSaleNumbered(tx, service, idOrNumber),
  }))
  const live = own === undefined ? await liveOrder(upstream, name, sale) : undefined
  const { id, personId } = live ? readable(client, () => orderIds(live)) : { id: own, personId: '' }
  if (id === undefined) return
  const held = await step(tx => holdOrder(tx, service, { id }), { names: [`order ${id}`], untilKnown: true })
  if (held) {
    const now = live ?? (await orderById(client, release, held.id, held.customerId ?? undefined))
    return learn(tx => upToDate(tx, service, held, now))
  }
  if (!live || !(await isCustomer(upstream, write, personId))) return
  return learn(async tx => {
    const order = await adopt(upstream, tx, { keys, service }, live)
    return order && upToDate(tx, service, order, live)
  })
}

/**
 * The identifier of an order in our tables. Only what they do not have is asked for: it becomes one of ours, in a transaction that is
 * open for no longer than it takes to store it.
 */
export async function findOrder(
  upstream: Upstream,
  { db, keys, service }: { db: Database; keys: Keys; service: Service },
  name: OrderName,
): Promise<string | undefined> {
  const own = await orderNamed(db, service, name)
  if (own !== undefined) return own
  const { client } = upstream
  const sale = await voucherSaleNumbered(db, service, 'number' in name ? name.number : name.idOrNumber)
  const live = await liveOrder(upstream, name, sale)
  if (!live) return
  const { id, personId } = readable(client, () => orderIds(live))
  const known = await orderNamed(db, service, { idOrNumber: id })
  if (known === id) return id
  const [customer] = await knownCustomers(db, service, [personId])
  const person = customer ? undefined : await personById(client, personId)
  if (!customer && (!person || idOf(person) !== personId)) return
  const ready = person && (await readied(upstream, { service, read: work => work(db) }, person))
  return db.transaction(async tx => {
    if (ready) await storePerson(tx, service, ready)
    const order = await adopt(upstream, tx, { keys, service }, live)
    return order && (await upToDate(tx, service, order, live)).order.id
  })
}

/**
 * An order as the back office has it now: by its identifier (releases that can), or by its number, which it forgets. Of one that sold a
 * voucher here more is known.
 */
async function liveOrder(
  { client, release }: Upstream,
  name: OrderName,
  sale: Awaited<ReturnType<typeof voucherSaleNumbered>>,
): Promise<Xml | undefined> {
  if (sale?.orderId && sale.customerId) {
    const sold = await orderById(client, release, sale.orderId, sale.customerId)
    if (sold) return sold
  }
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
export async function upToDate(tx: Db, service: Service, order: HeldOrder, live: Xml | undefined): Promise<KnownOrder> {
  const before = await linesOf(tx, service, order)
  const seen = live ? statusesIn(live, before) : new Map<number, LineStatus>()
  const steps = before.flatMap(({ sequence, status }) => {
    const now = seen.get(sequence) ?? status
    return status === 'processing' && now !== status ? [{ sequence, status: stepTo(now) }] : []
  })
  if (steps.length) {
    const change = await beginChange(tx, service, ['sales_order'])
    await followLines(tx, service, order, steps)
    await stampOrder(tx, service, order, change)
  }
  const lines = steps.length ? await linesOf(tx, service, order) : before
  const isBack = ({ sequence, returned }: HeldLine) => returned === 0 && seen.get(sequence) === 'returned'
  const left = lines.map(line => (isBack(line) ? { ...line, returned: line.quantity } : line))
  return { order, lines, left: lines.some(isBack) ? left : lines }
}

/** What is returned was shipped; how much of it came back is counted by returns. */
export const stepTo = (status: LineStatus): LineStatus => (status === 'returned' ? 'shipped' : status)
