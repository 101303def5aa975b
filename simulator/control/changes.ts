import { warehouseOf } from '../api/order-xml.ts'
import { nextStamp } from '../api/person-write.ts'
import { allotDueVouchers } from '../api/voucher-sales.ts'
import { saleOf } from '../generate/sales.ts'
import { readWall } from '../shop/clock.ts'
import type { Sku, Store } from '../shop/records.ts'
import type { LineStatus, Order, Return } from '../shop/sales.ts'
import { cents, next, type Shop } from '../shop/shop.ts'
import type { World } from '../world/world.ts'

type Fields = Record<string, unknown>

/** A change in the back office or at a till. */
export type Change =
  | { kind: 'set-stock' | 'sell-stock'; skuId: number; storeId: number; quantity: number }
  | { kind: 'till-sale'; storeId: number; personId: number | null; lines: { skuId: number; quantity: number }[] }
  | { kind: 'edit-person' | 'edit-style' | 'edit-sku' | 'edit-store' | 'edit-account'; id: number; fields: Fields }
  | { kind: 'edit-voucher'; number: string; fields: Fields }
  /** Adds a location that only stock names. It has no number, and shows the stock of the first warehouse, like a grouping. */
  | { kind: 'add-warehouse'; name: string }
  | { kind: 'add-reference'; typeId: number; code: string; name: string }
  /** `skuIds`: despatches only lines of these SKUs. */
  | { kind: 'despatch-order'; id: number; conNote?: string; skuIds?: number[] }
  /** Moves the last line of an order's parcel into a separate parcel. */
  | { kind: 'split-shipment'; id: number; conNote: string }
  | { kind: 'cancel-order' | 'forget-order' | 'receive-return' | 'complete-return' | 'cancel-return'; id: number }
  /** Sets the status word of all lines of a return. */
  | { kind: 'mark-return'; id: number; status: string }
  /** Cancels the lines of one SKU of a return. */
  | { kind: 'cancel-return-line'; id: number; skuId: number }
  | { kind: 'withdraw-style' | 'export-style' | 'withdraw-sku' | 'remove-person' | 'restore-person'; id: number }
  | { kind: 'allot-vouchers' }

export type ChangeKind = Change['kind']
type Of<K extends ChangeKind> = Extract<Change, { kind: K }>

function required<T>(record: T | undefined, name: string, id: unknown): T {
  if (record === undefined) throw new TypeError(`There is no ${name} ${id}`)
  return record
}
const skuOf = ({ skus }: Shop, id: number): Sku => required(skus.get(id), 'SKU', id)
const storeOf = ({ stores }: Shop, id: number): Store => required(stores.get(id), 'store', id)
const orderOf = ({ orders }: Shop, id: number): Order => required(orders.get(id), 'order', id)

/** Sets fields that a record has to values of their kind; in maps by key, in records field by field. */
function assign(record: object, fields: Fields): void {
  const target = record as Record<string, unknown>
  for (const [name, value] of Object.entries(fields)) {
    const before = target[name]
    const wall = name === 'updated' && typeof value === 'string' ? readWall(value) : undefined
    if (before instanceof Map && typeof value === 'object' && value !== null) {
      for (const [key, entry] of Object.entries(value)) {
        if (entry === null) before.delete(Number(key))
        else before.set(Number(key), entry)
      }
    } else if (
      typeof before === 'object' &&
      before !== null &&
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value)
    ) {
      // A copy: persons may share an address that is empty.
      target[name] = { ...before }
      assign(target[name] as object, value as Fields)
    } else if (wall !== undefined) target[name] = wall
    else if (typeof before === typeof value) target[name] = value
    else throw new TypeError(`${name} cannot be ${JSON.stringify(value)}`)
  }
}

function moveStock({ shop, clock, note }: World, sku: Sku, store: Store, quantity: number): void {
  shop.stock.set(sku.row, store.column, quantity, clock.wall())
  note('stock changed', sku.id, { store: store.id, quantity })
}

function sell(world: World, skuId: number, storeId: number, quantity: number): void {
  const [sku, store] = [skuOf(world.shop, skuId), storeOf(world.shop, storeId)]
  moveStock(world, sku, store, world.shop.stock.at(sku.row, store.column) - quantity)
}

function tillSale(world: World, { storeId, personId, lines }: Of<'till-sale'>): string {
  const { shop, clock, note } = world
  const store = storeOf(shop, storeId)
  if (personId !== null) required(shop.persons.get(personId), 'person', personId)
  const id = next(shop, 'transaction')
  const sold = lines.map(({ skuId, quantity }) => {
    const { price } = skuOf(shop, skuId)
    return {
      id: next(shop, 'line'),
      skuId,
      quantity,
      price,
      value: cents(price * quantity),
      taxPercent: 10,
      discounts: [],
    }
  })
  shop.transactions.push({
    id,
    personId,
    orderNumber: '',
    type: 'Sale',
    storeId,
    currency: 'AUD',
    lines: sold,
    carrier: '',
    carrierUrl: '',
    conNote: '',
    serviceType: '',
    number: `D${store.number}${String(next(shop, 'docket')).padStart(8, '0')}`,
    day: new Date(clock.wall()).toISOString().slice(0, 10),
  })
  for (const { skuId, quantity } of lines) sell(world, skuId, storeId, quantity)
  note('transaction created', id, { person: personId })
  return String(id)
}

function changeOrder(
  world: World,
  id: number,
  status: 'Shipped' | 'Cancelled',
  { conNote = '', skuIds }: { conNote?: string; skuIds?: number[] | undefined } = {},
): Order {
  const { shop, clock, note } = world
  const order = orderOf(shop, id)
  for (const line of order.lines)
    if (line.status === 'Processing' && (skuIds?.includes(line.skuId) ?? true))
      Object.assign(line, { status, conNote, carrier: conNote ? 'EMS' : line.carrier })
  order.updated = clock.wall()
  note('order changed', id, { status })
  return order
}

function despatch(world: World, { id, conNote = `EM${id}`, skuIds }: Of<'despatch-order'>): string {
  const { shop, clock, note } = world
  const order = changeOrder(world, id, 'Shipped', { conNote, skuIds })
  if (order.lines.some(line => line.status === 'Processing')) return String(id)
  const web = [...shop.stores.values()].find(store => store.kind === 'web')
  const sale = saleOf(order, shop, web?.id ?? 0, clock.wall())
  shop.transactions.push(sale)
  note('transaction created', sale.id, { person: order.personId })
  return String(sale.id)
}

function receive(world: World, id: number): string {
  const { shop, clock, note } = world
  const record = required(shop.returns.get(id), 'return', id)
  const order = orderOf(shop, record.orderId)
  const warehouse = storeOf(shop, warehouseOf(shop))
  record.status = 10
  for (const line of record.lines) {
    if (line.status === 'Cancelled') continue
    line.status = 'Returned'
    const sold = order.lines.find(other => other.skuId === line.skuId)
    if (sold) sold.status = 'Returned'
    if (record.stockUpdate) sell(world, line.skuId, warehouse.id, line.quantity)
  }
  order.updated = clock.wall()
  note('return received', id, { order: order.id })
  return String(id)
}

/** Sets the status of a return that doesn't move stock. */
function markReturn(world: World, id: number, status: Return['status'], word: string): string {
  const record = required(world.shop.returns.get(id), 'return', id)
  record.status = status
  for (const line of record.lines) if (line.status !== 'Cancelled') line.status = word as LineStatus
  world.note('return changed', id, { status: word })
  return String(id)
}

const kinds: { [K in ChangeKind]: (world: World, change: Of<K>) => string } = {
  'set-stock': (world, { skuId, storeId, quantity }) => {
    moveStock(world, skuOf(world.shop, skuId), storeOf(world.shop, storeId), quantity)
    return String(skuId)
  },
  'sell-stock': (world, { skuId, storeId, quantity }) => {
    sell(world, skuId, storeId, quantity)
    return String(skuId)
  },
  'till-sale': tillSale,
  'edit-person': (world, { id, fields }) => {
    const person = required(world.shop.persons.get(id), 'person', id)
    person.updated = nextStamp(world, person.updated)
    assign(person, fields)
    world.note('person updated', id, { by: 'back-office staff' })
    return String(id)
  },
  'remove-person': (world, { id }) => {
    const { persons, formerPersons } = world.shop
    formerPersons.set(id, required(persons.get(id), 'person', id))
    persons.delete(id)
    world.note('person removed', id)
    return String(id)
  },
  'restore-person': (world, { id }) => {
    const { persons, formerPersons } = world.shop
    persons.set(id, required(formerPersons.get(id), 'removed person', id))
    formerPersons.delete(id)
    world.note('person restored', id)
    return String(id)
  },
  'edit-style': (world, { id, fields }) => {
    const style = required(world.shop.styles.get(id), 'style', id)
    style.updated = world.clock.wall()
    assign(style, fields)
    world.note('product changed', id)
    return String(id)
  },
  'edit-sku': (world, { id, fields }) => {
    const sku = skuOf(world.shop, id)
    assign(sku, fields)
    sku.colour.style.updated = world.clock.wall()
    world.note('product changed', sku.colour.style.id)
    return String(id)
  },
  'withdraw-style': (world, { id }) => {
    required(world.shop.styles.get(id), 'style', id)
    world.shop.styles.delete(id)
    world.note('product changed', id, { exported: false })
    return String(id)
  },
  'export-style': (world, { id }) => {
    const of = [...world.shop.colours.values()].find(({ style: ownStyle }) => ownStyle.id === id)
    const { style } = required(of, 'style', id)
    style.updated = world.clock.wall()
    world.shop.styles.set(id, style)
    world.note('product changed', id, { exported: true })
    return String(id)
  },
  'withdraw-sku': (world, { id }) => {
    const { colour } = skuOf(world.shop, id)
    colour.skus = colour.skus.filter(sku => sku.id !== id)
    colour.style.updated = world.clock.wall()
    world.note('product changed', colour.style.id, { without: id })
    return String(id)
  },
  'edit-store': (world, { id, fields }) => {
    assign(storeOf(world.shop, id), fields)
    world.note('store changed', id)
    return String(id)
  },
  'add-warehouse': (world, { name }) => {
    const { stores } = world.shop
    const id = Math.max(...stores.keys()) + 1
    stores.set(id, { ...storeOf(world.shop, warehouseOf(world.shop)), id, code: `S${id}`, number: '', name })
    world.note('store changed', id)
    return String(id)
  },
  'edit-account': (world, { id, fields }) => {
    assign(required(world.shop.accounts.get(id), 'reward account', id), fields)
    world.note('rewards changed', id)
    return String(id)
  },
  'edit-voucher': (world, { number, fields }) => {
    assign(required(world.shop.vouchers.get(number), 'voucher', number), fields)
    world.note('voucher changed', number)
    return number
  },
  'add-reference': (world, { typeId, code, name }) => {
    const type = required(world.shop.referenceTypes.get(typeId), 'reference type', typeId)
    const id = next(world.shop, 'reference')
    type.references.set(id, { id, code, name })
    world.note('reference changed', id)
    return String(id)
  },
  'despatch-order': despatch,
  'cancel-order': (world, { id }) => String(changeOrder(world, id, 'Cancelled').id),
  'forget-order': (world, { id }) => {
    orderOf(world.shop, id).inWebTable = false
    return String(id)
  },
  'split-shipment': (world, { id, conNote }) => {
    const line = required(
      orderOf(world.shop, id).lines.findLast(({ status }) => status === 'Shipped'),
      'shipped line',
      id,
    )
    line.conNote = conNote
    world.note('order changed', id, { conNote })
    return String(id)
  },
  'receive-return': (world, { id }) => receive(world, id),
  'complete-return': (world, { id }) => markReturn(world, id, 5, 'Completed'),
  'cancel-return': (world, { id }) => markReturn(world, id, 7, 'Cancelled'),
  'mark-return': (world, { id, status }) => markReturn(world, id, 9, status),
  'cancel-return-line': (world, { id, skuId }) => {
    for (const line of required(world.shop.returns.get(id), 'return', id).lines)
      if (line.skuId === skuId) line.status = 'Cancelled'
    world.note('return changed', id, { cancelled: skuId })
    return String(id)
  },
  'allot-vouchers': world => String(allotDueVouchers(world, true)),
}

/** Applies a change. Returns the ID of the changed record. Throws a TypeError if the change is invalid. */
export function applyChange(world: World, change: Change): string {
  if (!Object.hasOwn(kinds, change.kind)) throw new TypeError(`kind must be one of ${Object.keys(kinds).join(', ')}`)
  const make = kinds[change.kind] as (world: World, change: Change) => string
  return make(world, change)
}
