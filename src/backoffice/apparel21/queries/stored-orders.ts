import type { Keys } from '../../../crypto/keys.ts'
import type { Database, Db } from '../../../database/db.ts'
import type { LineStatus, OrderName } from '../../../domain/orders/orders.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { findCustomersById } from '../../../store/customers/customers.ts'
import { lockCustomerKeys } from '../../../store/customers/removal.ts'
import { beginChange } from '../../../store/lists/change-timestamp.ts'
import { type LockedLine, readLines, touchOrder, updateProcessingLines } from '../../../store/orders/lines.ts'
import { findOrderId, type LockedOrder, lockOrder, reassignOrders } from '../../../store/orders/orders.ts'
import { findBuyers } from '../../../store/orders/transactions.ts'
import { findVoucherSale } from '../../../store/vouchers/upstream-sales.ts'
import type { Write } from '../../../writes/write.ts'
import { countUnits, readLineStatuses, readOrderIds } from '../mapping/order-from-xml.ts'
import { readPersonId } from '../mapping/person-from-xml.ts'
import type { Xml } from '../xml/xml.ts'
import { adoptOrder, parseOrThrow } from './adopted-orders.ts'
import { fetchOrderById, fetchOrderByNumber } from './order-search.ts'
import { ensureCustomer, fetchPersonById, preparePerson, storePerson } from './persons.ts'
import type { Upstream } from './upstream.ts'

/** A locked order with its lines in their current state. */
interface CurrentOrder {
  order: LockedOrder
  lines: LockedLine[]
  /** The lines with the quantities that the back office can still take back, if that is less: units came back another way, or fewer were shipped. */
  returnableLines?: LockedLine[]
}

/**
 * Locks an order and updates its lines from the back office. An order that is not stored yet, for example from before the service was
 * connected, is fetched and stored. Returns undefined if the order doesn't exist.
 */
export async function refreshOrder(
  upstream: Upstream,
  write: Write,
  idOrNumber: string,
): Promise<CurrentOrder | undefined> {
  const { service, keys, stage, recordFact } = write
  const { client, release } = upstream
  const name = { idOrNumber }
  const { storedId, hints } = await stage(async tx => ({
    storedId: await findOrderId(tx, service, name),
    hints: await findHints(tx, service, idOrNumber),
  }))
  const current = storedId === undefined ? await fetchOrder(upstream, name, hints) : undefined
  const { id, personId } = current ? parseOrThrow(client, () => readOrderIds(current)) : { id: storedId, personId: '' }
  if (id === undefined) return
  const locked = await stage(tx => lockOrder(tx, service, { id }), { names: [`order ${id}`], untilResolved: true })
  if (locked) {
    const latest = current ?? (await fetchOrderById(client, release, locked.id, locked.customerId ?? undefined))
    // The back office may have merged two persons.
    const owner =
      latest && locked.customerId !== null
        ? parseOrThrow(client, () => readOrderIds(latest)).personId
        : locked.customerId
    const isMerged = owner !== null && owner !== locked.customerId && (await ensureCustomer(upstream, write, owner))
    return recordFact(async tx => {
      if (isMerged) await reassignOrders(tx, service, [locked.id], owner)
      return updateLines(tx, service, isMerged ? { ...locked, customerId: owner } : locked, latest)
    })
  }
  if (!current || !(await ensureCustomer(upstream, write, personId))) return
  return recordFact(tx => adoptCurrentOrder(upstream, tx, { keys, service }, current))
}

/**
 * Returns the identifier of a stored order. An order that is not stored is fetched and then stored in a short transaction. Returns
 * undefined if the order doesn't exist.
 */
export async function findOrder(
  upstream: Upstream,
  { db, keys, service }: { db: Database; keys: Keys; service: Service },
  name: OrderName,
): Promise<string | undefined> {
  const storedId = await findOrderId(db, service, name)
  if (storedId !== undefined) return storedId
  const { client } = upstream
  const hints = await findHints(db, service, 'number' in name ? name.number : name.idOrNumber)
  const current = await fetchOrder(upstream, name, hints)
  if (!current) return
  const { id, personId } = parseOrThrow(client, () => readOrderIds(current))
  const ownerId = await findOrderId(db, service, { idOrNumber: id })
  if (ownerId === id) return id
  const [customer] = await findCustomersById(db, service, [personId])
  const person = customer ? undefined : await fetchPersonById(client, personId)
  if (!customer && (!person || readPersonId(person) !== personId)) return
  const ready = person && (await preparePerson(upstream, { service, read: work => work(db) }, person))
  return db.transaction(async tx => {
    if (ready) await storePerson(tx, service, ready)
    // If the customer was erased concurrently, the order must not restore them.
    else if (!(await lockCustomerKeys(tx, service, [personId])).length) return
    return (await adoptCurrentOrder(upstream, tx, { keys, service }, current))?.order.id
  })
}

/** Stores an order of the back office with the current status of its lines. */
export async function adoptCurrentOrder(
  upstream: Upstream,
  tx: Db,
  context: { keys: Keys; service: Service },
  current: Xml,
) {
  const order = await adoptOrder(upstream, tx, context, current)
  return order && updateLines(tx, context.service, order, current)
}

/** Finds traces of an order that is not stored: the sale of its voucher, and the customers of its sales. */
const findHints = async (db: Db, service: Service, number: string) => ({
  sale: await findVoucherSale(db, service, number),
  buyers: await findBuyers(db, service, number),
})

/**
 * Fetches the current order: by identifier, if the release can, or by number. The back office forgets numbers after a while; then the
 * orders of the customer who has a sale with this number are searched. A voucher sale is looked up by its stored identifier and customer
 * first.
 */
async function fetchOrder(
  { client, release }: Upstream,
  name: OrderName,
  { sale, buyers }: Awaited<ReturnType<typeof findHints>>,
): Promise<Xml | undefined> {
  if (sale?.orderId && sale.customerId) {
    const sold = await fetchOrderById(client, release, sale.orderId, sale.customerId)
    if (sold) return sold
  }
  const fetchByNumber = async (number: string) => {
    for (const buyer of [undefined, ...buyers]) {
      const order = await fetchOrderByNumber(client, number, buyer)
      if (order) return order
    }
    return
  }
  const match =
    'number' in name
      ? await fetchByNumber(name.number)
      : ((await fetchOrderById(client, release, name.idOrNumber)) ?? (await fetchByNumber(name.idOrNumber)))
  if (!match) return
  const { id, personId } = parseOrThrow(client, () => readOrderIds(match))
  // The lookup by number returns the order as it was posted, not its current state.
  return (await fetchOrderById(client, release, id, personId)) ?? match
}

/** Updates the lines that have been shipped or cancelled. */
async function updateLines(
  tx: Db,
  service: Service,
  order: LockedOrder,
  current: Xml | undefined,
): Promise<CurrentOrder> {
  const storedLines = await readLines(tx, service, order)
  const statuses = current ? readLineStatuses(current, storedLines) : new Map<number, LineStatus>()
  const changes = storedLines.flatMap(({ sequence, status }) => {
    const newStatus = statuses.get(sequence) ?? status
    return status === 'processing' && newStatus !== status ? [{ sequence, status: toStoredStatus(newStatus) }] : []
  })
  if (changes.length) {
    const change = await beginChange(tx, service, ['sales_order'])
    await updateProcessingLines(tx, service, order, changes)
    await touchOrder(tx, service, order, change)
  }
  const lines = changes.length ? await readLines(tx, service, order) : storedLines
  const returnableLines = current && limitReturnable(lines, statuses, countUnits(current))
  return { order, lines, ...(returnableLines && { returnableLines }) }
}

/** Limits the returnable quantities to the quantities of the back office. Returns undefined if no line has fewer. */
function limitReturnable(
  lines: readonly LockedLine[],
  statuses: ReadonlyMap<number, LineStatus>,
  units: ReturnType<typeof countUnits>,
): LockedLine[] | undefined {
  const sumReturned = (skuId: string) => sum(lines.filter(line => line.skuId === skuId).map(line => line.returned))
  // The back office may not have received a return yet, or may report a partly returned line as returned.
  const returnable = new Map(
    [...units].map(([skuId, { shipped, returned }]) => [skuId, shipped - (sumReturned(skuId) || returned)]),
  )
  let hasFewer = false
  const limited = lines.map(line => {
    const maxUnits = returnable.get(line.skuId)
    if (line.status === 'processing' || line.status === 'cancelled' || maxUnits === undefined) return line
    const isReturned = line.returned === 0 && statuses.get(line.sequence) === 'returned'
    const available = isReturned ? 0 : Math.max(0, Math.min(line.shipped - line.returned, maxUnits))
    returnable.set(line.skuId, maxUnits - available)
    hasFewer ||= available < line.shipped - line.returned
    return { ...line, returned: line.shipped - available }
  })
  return hasFewer ? limited : undefined
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

/** Converts a status for storage. A returned line is stored as shipped, because returns count the returned units. */
export const toStoredStatus = (status: LineStatus): LineStatus => (status === 'returned' ? 'shipped' : status)
