import { findWarehouseId } from '../api/order-xml.ts'
import { getWriteTime } from '../api/person-write.ts'
import { allotDueVouchers } from '../api/voucher-sales.ts'
import { makeSale } from '../generate/sales.ts'
import { parseWall } from '../shop/clock.ts'
import type { Sku, Store } from '../shop/records.ts'
import type { LineStatus, Order, Return } from '../shop/sales.ts'
import { createId, roundToCents, type Shop } from '../shop/shop.ts'
import type { World } from '../world/world.ts'

type Fields = Record<string, unknown>

/** A change in the back office or at a till. */
export type Change =
  | { kind: 'set-stock' | 'sell-stock'; skuId: number; storeId: number; quantity: number }
  | { kind: 'till-sale'; storeId: number; personId: number | null; lines: { skuId: number; quantity: number }[] }
  | { kind: 'edit-person' | 'edit-style' | 'edit-sku' | 'edit-store' | 'edit-account'; id: number; fields: Fields }
  | { kind: 'edit-voucher'; number: string; fields: Fields }
  /** Adds a location without a number that only stock contains. It shows the stock of the first warehouse, like a group of stores. */
  | { kind: 'add-warehouse'; name: string }
  | { kind: 'add-reference'; typeId: number; code: string; name: string }
  /** Despatches the lines of an order, or only those of `skuIds`. */
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
type ChangeOfKind<K extends ChangeKind> = Extract<Change, { kind: K }>

function requireRecord<T>(record: T | undefined, name: string, id: unknown): T {
  if (record === undefined) throw new TypeError(`${name} ${id} not found`)
  return record
}
const requireSku = ({ skus }: Shop, id: number): Sku => requireRecord(skus.get(id), 'SKU', id)
const requireStore = ({ stores }: Shop, id: number): Store => requireRecord(stores.get(id), 'store', id)
const requireOrder = ({ orders }: Shop, id: number): Order => requireRecord(orders.get(id), 'order', id)

/** Sets fields of a record: maps by key, nested records field by field. Throws a TypeError if a field is missing or has another type. */
function assignFields(record: object, fields: Fields): void {
  const target = record as Record<string, unknown>
  for (const [name, value] of Object.entries(fields)) {
    const before = target[name]
    const wall = name === 'updated' && typeof value === 'string' ? parseWall(value) : undefined
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
      // Copies the record, because persons can share an empty address.
      target[name] = { ...before }
      assignFields(target[name] as object, value as Fields)
    } else if (wall !== undefined) target[name] = wall
    else if (typeof before === typeof value) target[name] = value
    else throw new TypeError(`${name} can't be ${JSON.stringify(value)}`)
  }
}

function setStock({ shop, clock, recordEffect }: World, sku: Sku, store: Store, quantity: number): void {
  shop.stock.set(sku.row, store.column, quantity, clock.wall())
  recordEffect('stock changed', sku.id, { store: store.id, quantity })
}

function sell(world: World, skuId: number, storeId: number, quantity: number): void {
  const [sku, store] = [requireSku(world.shop, skuId), requireStore(world.shop, storeId)]
  setStock(world, sku, store, world.shop.stock.get(sku.row, store.column) - quantity)
}

function createTillSale(world: World, { storeId, personId, lines }: ChangeOfKind<'till-sale'>): string {
  const { shop, clock, recordEffect } = world
  const store = requireStore(shop, storeId)
  if (personId !== null) requireRecord(shop.persons.get(personId), 'person', personId)
  const id = createId(shop, 'transaction')
  const soldLines = lines.map(({ skuId, quantity }) => {
    const { price } = requireSku(shop, skuId)
    return {
      id: createId(shop, 'line'),
      skuId,
      quantity,
      price,
      value: roundToCents(price * quantity),
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
    lines: soldLines,
    carrier: '',
    carrierUrl: '',
    conNote: '',
    serviceType: '',
    number: `D${store.number}${String(createId(shop, 'docket')).padStart(8, '0')}`,
    day: new Date(clock.wall()).toISOString().slice(0, 10),
  })
  for (const { skuId, quantity } of lines) sell(world, skuId, storeId, quantity)
  recordEffect('transaction created', id, { person: personId })
  return String(id)
}

function changeOrder(
  world: World,
  id: number,
  status: 'Shipped' | 'Cancelled',
  { conNote = '', skuIds }: { conNote?: string; skuIds?: number[] | undefined } = {},
): Order {
  const { shop, clock, recordEffect } = world
  const order = requireOrder(shop, id)
  for (const line of order.lines)
    if (line.status === 'Processing' && (skuIds?.includes(line.skuId) ?? true))
      Object.assign(line, { status, conNote, carrier: conNote ? 'EMS' : line.carrier })
  order.updated = clock.wall()
  recordEffect('order changed', id, { status })
  return order
}

function despatch(world: World, { id, conNote = `EM${id}`, skuIds }: ChangeOfKind<'despatch-order'>): string {
  const { shop, clock, recordEffect } = world
  const order = changeOrder(world, id, 'Shipped', { conNote, skuIds })
  if (order.lines.some(line => line.status === 'Processing')) return String(id)
  const web = [...shop.stores.values()].find(store => store.kind === 'web')
  const sale = makeSale(order, shop, web?.id ?? 0, clock.wall())
  shop.transactions.push(sale)
  recordEffect('transaction created', sale.id, { person: order.personId })
  return String(sale.id)
}

function receiveReturn(world: World, id: number): string {
  const { shop, clock, recordEffect } = world
  const record = requireRecord(shop.returns.get(id), 'return', id)
  const order = requireOrder(shop, record.orderId)
  const warehouse = requireStore(shop, findWarehouseId(shop))
  record.status = 10
  for (const line of record.lines) {
    if (line.status === 'Cancelled') continue
    line.status = 'Returned'
    const soldLine = order.lines.find(other => other.skuId === line.skuId)
    if (soldLine) soldLine.status = 'Returned'
    if (record.stockUpdate) sell(world, line.skuId, warehouse.id, line.quantity)
  }
  order.updated = clock.wall()
  recordEffect('return received', id, { order: order.id })
  return String(id)
}

/** Sets the status of a return that doesn't move stock. */
function markReturn(world: World, id: number, status: Return['status'], word: string): string {
  const record = requireRecord(world.shop.returns.get(id), 'return', id)
  record.status = status
  for (const line of record.lines) if (line.status !== 'Cancelled') line.status = word as LineStatus
  world.recordEffect('return changed', id, { status: word })
  return String(id)
}

const appliers: { [K in ChangeKind]: (world: World, change: ChangeOfKind<K>) => string } = {
  'set-stock': (world, { skuId, storeId, quantity }) => {
    setStock(world, requireSku(world.shop, skuId), requireStore(world.shop, storeId), quantity)
    return String(skuId)
  },
  'sell-stock': (world, { skuId, storeId, quantity }) => {
    sell(world, skuId, storeId, quantity)
    return String(skuId)
  },
  'till-sale': createTillSale,
  'edit-person': (world, { id, fields }) => {
    const person = requireRecord(world.shop.persons.get(id), 'person', id)
    person.updated = getWriteTime(world, person.updated)
    assignFields(person, fields)
    world.recordEffect('person updated', id, { by: 'back-office staff' })
    return String(id)
  },
  'remove-person': (world, { id }) => {
    const { persons, formerPersons } = world.shop
    formerPersons.set(id, requireRecord(persons.get(id), 'person', id))
    persons.delete(id)
    world.recordEffect('person removed', id)
    return String(id)
  },
  'restore-person': (world, { id }) => {
    const { persons, formerPersons } = world.shop
    persons.set(id, requireRecord(formerPersons.get(id), 'removed person', id))
    formerPersons.delete(id)
    world.recordEffect('person restored', id)
    return String(id)
  },
  'edit-style': (world, { id, fields }) => {
    const style = requireRecord(world.shop.styles.get(id), 'style', id)
    style.updated = world.clock.wall()
    assignFields(style, fields)
    world.recordEffect('product changed', id)
    return String(id)
  },
  'edit-sku': (world, { id, fields }) => {
    const sku = requireSku(world.shop, id)
    assignFields(sku, fields)
    sku.colour.style.updated = world.clock.wall()
    world.recordEffect('product changed', sku.colour.style.id)
    return String(id)
  },
  'withdraw-style': (world, { id }) => {
    requireRecord(world.shop.styles.get(id), 'style', id)
    world.shop.styles.delete(id)
    world.recordEffect('product changed', id, { exported: false })
    return String(id)
  },
  'export-style': (world, { id }) => {
    const colour = [...world.shop.colours.values()].find(({ style: ownStyle }) => ownStyle.id === id)
    const { style } = requireRecord(colour, 'style', id)
    style.updated = world.clock.wall()
    world.shop.styles.set(id, style)
    world.recordEffect('product changed', id, { exported: true })
    return String(id)
  },
  'withdraw-sku': (world, { id }) => {
    const { colour } = requireSku(world.shop, id)
    colour.skus = colour.skus.filter(sku => sku.id !== id)
    colour.style.updated = world.clock.wall()
    world.recordEffect('product changed', colour.style.id, { without: id })
    return String(id)
  },
  'edit-store': (world, { id, fields }) => {
    assignFields(requireStore(world.shop, id), fields)
    world.recordEffect('store changed', id)
    return String(id)
  },
  'add-warehouse': (world, { name }) => {
    const { stores } = world.shop
    const id = Math.max(...stores.keys()) + 1
    stores.set(id, { ...requireStore(world.shop, findWarehouseId(world.shop)), id, code: `S${id}`, number: '', name })
    world.recordEffect('store changed', id)
    return String(id)
  },
  'edit-account': (world, { id, fields }) => {
    assignFields(requireRecord(world.shop.accounts.get(id), 'reward account', id), fields)
    world.recordEffect('rewards changed', id)
    return String(id)
  },
  'edit-voucher': (world, { number, fields }) => {
    assignFields(requireRecord(world.shop.vouchers.get(number), 'voucher', number), fields)
    world.recordEffect('voucher changed', number)
    return number
  },
  'add-reference': (world, { typeId, code, name }) => {
    const type = requireRecord(world.shop.referenceTypes.get(typeId), 'reference type', typeId)
    const id = createId(world.shop, 'reference')
    type.references.set(id, { id, code, name })
    world.recordEffect('reference changed', id)
    return String(id)
  },
  'despatch-order': despatch,
  'cancel-order': (world, { id }) => String(changeOrder(world, id, 'Cancelled').id),
  'forget-order': (world, { id }) => {
    requireOrder(world.shop, id).inWebTable = false
    return String(id)
  },
  'split-shipment': (world, { id, conNote }) => {
    const line = requireRecord(
      requireOrder(world.shop, id).lines.findLast(({ status }) => status === 'Shipped'),
      'shipped line',
      id,
    )
    line.conNote = conNote
    world.recordEffect('order changed', id, { conNote })
    return String(id)
  },
  'receive-return': (world, { id }) => receiveReturn(world, id),
  'complete-return': (world, { id }) => markReturn(world, id, 5, 'Completed'),
  'cancel-return': (world, { id }) => markReturn(world, id, 7, 'Cancelled'),
  'mark-return': (world, { id, status }) => markReturn(world, id, 9, status),
  'cancel-return-line': (world, { id, skuId }) => {
    for (const line of requireRecord(world.shop.returns.get(id), 'return', id).lines)
      if (line.skuId === skuId) line.status = 'Cancelled'
    world.recordEffect('return changed', id, { cancelled: skuId })
    return String(id)
  },
  'allot-vouchers': world => String(allotDueVouchers(world, true)),
}

/** Applies a change. Returns the ID of the changed record. Throws a TypeError if the change is invalid. */
export function applyChange(world: World, change: Change): string {
  if (!Object.hasOwn(appliers, change.kind))
    throw new TypeError(`kind must be one of ${Object.keys(appliers).join(', ')}`)
  const apply = appliers[change.kind] as (world: World, change: Change) => string
  return apply(world, change)
}
