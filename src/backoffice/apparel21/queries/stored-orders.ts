import type { Keys } from '../../../crypto/keys.ts'
import type { Database, Db } from '../../../database/db.ts'
import type { LineStatus, OrderName } from '../../../domain/orders/orders.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { knownCustomers } from '../../../store/customers/customers.ts'
import { holdCustomers } from '../../../store/customers/removal.ts'
import { beginChange } from '../../../store/lists/change-timestamp.ts'
import { followLines, type HeldLine, linesOf, stampOrder } from '../../../store/orders/lines.ts'
import { type HeldOrder, handOver, holdOrder, orderNamed } from '../../../store/orders/orders.ts'
import { voucherSaleNumbered } from '../../../store/vouchers/upstream-sales.ts'
import type { Write } from '../../../writes/write.ts'
import { countUnits, readLineStatuses, readOrderIds } from '../mapping/order-from-xml.ts'
import { readPersonId } from '../mapping/person-from-xml.ts'
import type { Xml } from '../xml/xml.ts'
import { adoptOrder, parseOrThrow } from './adopted-orders.ts'
import { fetchOrderById, fetchOrderByNumber } from './order-search.ts'
import { ensureCustomer, fetchPersonById, preparePerson, storePerson } from './persons.ts'
import type { Upstream } from './upstream.ts'

/** An order that is held, with its lines, brought up to date. */
interface CurrentOrder {
  order: HeldOrder
  lines: HeldLine[]
  /** The same with what can be returned as the back office has it, where that is less: some came back another way, or fewer were sent. */
  returnableLines?: HeldLine[]
}

/**
 * Holds an order and brings its lines up to date. One that our tables do not have, since it was placed before there was this service, is
 * fetched, and becomes one of ours. Undefined: there is none.
 */
export async function refreshOrder(
  upstream: Upstream,
  write: Write,
  idOrNumber: string,
): Promise<CurrentOrder | undefined> {
  const { service, keys, step, learn } = write
  const { client, release } = upstream
  const name = { idOrNumber }
  const { own, sale } = await step(async tx => ({
    own: await orderNamed(tx, service, name),
    sale: await voucherSaleNumbered(tx, service, idOrNumber),
  }))
  const live = own === undefined ? await fetchOrder(upstream, name, sale) : undefined
  const { id, personId } = live ? parseOrThrow(client, () => readOrderIds(live)) : { id: own, personId: '' }
  if (id === undefined) return
  const held = await step(tx => holdOrder(tx, service, { id }), { names: [`order ${id}`], untilKnown: true })
  if (held) {
    const now = live ?? (await fetchOrderById(client, release, held.id, held.customerId ?? undefined))
    // Head office may have made one person of two.
    const owner =
      now && held.customerId !== null ? parseOrThrow(client, () => readOrderIds(now)).personId : held.customerId
    const isMerged = owner !== null && owner !== held.customerId && (await ensureCustomer(upstream, write, owner))
    return learn(async tx => {
      if (isMerged) await handOver(tx, service, [held.id], owner)
      return updateLines(tx, service, isMerged ? { ...held, customerId: owner } : held, now)
    })
  }
  if (!live || !(await ensureCustomer(upstream, write, personId))) return
  return learn(tx => adoptCurrentOrder(upstream, tx, { keys, service }, live))
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
  const live = await fetchOrder(upstream, name, sale)
  if (!live) return
  const { id, personId } = parseOrThrow(client, () => readOrderIds(live))
  const known = await orderNamed(db, service, { idOrNumber: id })
  if (known === id) return id
  const [customer] = await knownCustomers(db, service, [personId])
  const person = customer ? undefined : await fetchPersonById(client, personId)
  if (!customer && (!person || readPersonId(person) !== personId)) return
  const ready = person && (await preparePerson(upstream, { service, read: work => work(db) }, person))
  return db.transaction(async tx => {
    if (ready) await storePerson(tx, service, ready)
    // Erased meanwhile, they are not put back by their order.
    else if (!(await holdCustomers(tx, service, [personId])).length) return
    return (await adoptCurrentOrder(upstream, tx, { keys, service }, live))?.order.id
  })
}

/** Puts an order into our tables (`adopt`), as far as it has come by now. */
export async function adoptCurrentOrder(upstream: Upstream, tx: Db, of: { keys: Keys; service: Service }, live: Xml) {
  const order = await adoptOrder(upstream, tx, of, live)
  return order && updateLines(tx, of.service, order, live)
}

/**
 * An order as the back office has it now: by its identifier (releases that can), or by its number, which it forgets. Of one that sold a
 * voucher here more is known.
 */
async function fetchOrder(
  { client, release }: Upstream,
  name: OrderName,
  sale: Awaited<ReturnType<typeof voucherSaleNumbered>>,
): Promise<Xml | undefined> {
  if (sale?.orderId && sale.customerId) {
    const sold = await fetchOrderById(client, release, sale.orderId, sale.customerId)
    if (sold) return sold
  }
  const found =
    'number' in name
      ? await fetchOrderByNumber(client, name.number)
      : ((await fetchOrderById(client, release, name.idOrNumber)) ??
        (await fetchOrderByNumber(client, name.idOrNumber)))
  if (!found) return
  const { id, personId } = parseOrThrow(client, () => readOrderIds(found))
  // What is found by a number is as it was posted.
  return (await fetchOrderById(client, release, id, personId)) ?? found
}

/** Follows the steps of lines that are shipped or cancelled by now. */
async function updateLines(tx: Db, service: Service, order: HeldOrder, live: Xml | undefined): Promise<CurrentOrder> {
  const before = await linesOf(tx, service, order)
  const seen = live ? readLineStatuses(live, before) : new Map<number, LineStatus>()
  const steps = before.flatMap(({ sequence, status }) => {
    const now = seen.get(sequence) ?? status
    return status === 'processing' && now !== status ? [{ sequence, status: toStoredStatus(now) }] : []
  })
  if (steps.length) {
    const change = await beginChange(tx, service, ['sales_order'])
    await followLines(tx, service, order, steps)
    await stampOrder(tx, service, order, change)
  }
  const lines = steps.length ? await linesOf(tx, service, order) : before
  const asThere = live && limitReturnable(lines, seen, countUnits(live))
  return { order, lines, ...(asThere && { returnableLines: asThere }) }
}

/** Lines of which less can be returned there than here; undefined where there are none. */
function limitReturnable(
  lines: readonly HeldLine[],
  seen: ReadonlyMap<number, LineStatus>,
  there: ReturnType<typeof countUnits>,
): HeldLine[] | undefined {
  const returned = (skuId: string) => sum(lines.filter(line => line.skuId === skuId).map(line => line.returned))
  // What was returned here need not be received there yet, or all of a line is said to be back that was returned in part.
  const room = new Map([...there].map(([skuId, { sent, back }]) => [skuId, sent - (returned(skuId) || back)]))
  let isLess = false
  const left = lines.map(line => {
    const most = room.get(line.skuId)
    if (line.status === 'processing' || line.status === 'cancelled' || most === undefined) return line
    const isBack = line.returned === 0 && seen.get(line.sequence) === 'returned'
    const can = isBack ? 0 : Math.max(0, Math.min(line.quantity - line.returned, most))
    room.set(line.skuId, most - can)
    isLess ||= can < line.quantity - line.returned
    return { ...line, returned: line.quantity - can }
  })
  return isLess ? left : undefined
}

const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)

/** What is returned was shipped; how much of it came back is counted by returns. */
export const toStoredStatus = (status: LineStatus): LineStatus => (status === 'returned' ? 'shipped' : status)
