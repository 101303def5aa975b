import type { Database, Db } from '../../database/db.ts'
import { toMinorUnits } from '../../domain/orders/pricing.ts'
import { maxGateways } from '../../domain/tenancy/gateways.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { computePrice, formatAmount, getDecimals } from '../../domain/values/money.ts'
import type { ImportedState, VoucherRow } from '../../domain/vouchers/voucher-row.ts'
import { findUnknownReferences, toReferenceKey, upsertReferences } from '../../store/catalog/references.ts'
import { findSkus, findSkusById } from '../../store/catalog/skus.ts'
import { findStoresById, findStoresByNumber } from '../../store/catalog/stores.ts'
import { findCustomersByEmail, findCustomersById } from '../../store/customers/customers.ts'
import type { Upserted } from '../../store/lists/change-timestamp.ts'
import type { WriteContext } from '../../store/lists/outdated.ts'
import type { ImportedOrder } from '../../store/orders/imported-orders.ts'
import { findVariants } from '../../store/orders/place.ts'
import { listGatewayNames } from '../../store/tenancy/gateways.ts'
import { createImportedVoucher } from '../../store/vouchers/imported-vouchers.ts'
import type { ReferenceValue } from './cells.ts'
import { addNotes, type Notes, note } from './counts.ts'
import type { Prepare, Row } from './ingest.ts'
import { type NameLookup, toTransactionParts } from './inputs.ts'
import { groupByOrder, toOrder, toSoldItem } from './orders.ts'
import { RowError } from './row-error.ts'
import { createUnknownError } from './violations.ts'

export const translateEach =
  (translate: (row: Row) => object): Prepare<Row> =>
  async (_db, _service, rows) => ({ inputs: rows.map(translate) })

const addedReference = 'unknown reference value: added with its code and name'
const unknownReference = 'unknown reference value: stored without code and name'

/**
 * Like `translateEach`, and looks up the reference values of the rows. Those that are unknown are in `newReferences` if the row has their
 * name. The others are stored with their ID only.
 */
export const translateWithReferences =
  (translate: (row: Row) => object): Prepare<Row> =>
  async (db, service, rows) => {
    const values = rows.map(({ references }) =>
      Object.entries((references ?? {}) as Record<string, ReferenceValue>).map(([type, value]) =>
        typeof value === 'string' ? { type, value } : { type, value: value.referenceValueId, ...value },
      ),
    )
    if (!values.some(({ length }) => length)) return { inputs: rows.map(translate) }
    const unknown = new Set((await findUnknownReferences(db, service, values.flat())).map(toReferenceKey))
    const isNamed = (value: object) => 'name' in value
    const named = new Set(values.flat().filter(isNamed).map(toReferenceKey))
    const notes: Notes = {}
    const inputs = rows.map((row, i) => {
      const missing = (values[i] ?? []).filter(value => unknown.has(toReferenceKey(value)))
      const newReferences = missing.filter(isNamed).map(({ value: _, ...reference }) => reference)
      if (newReferences.length) note(notes, addedReference)
      if (missing.some(value => !named.has(toReferenceKey(value)))) note(notes, unknownReference)
      const references = row.references && Object.fromEntries((values[i] ?? []).map(({ type, value }) => [type, value]))
      return { ...translate(row.references === undefined ? row : { ...row, references }), newReferences }
    })
    return { inputs, notes }
  }

/** Wraps a store function: adds the `newReferences` of its inputs first. */
export const addReferencesFirst =
  <T extends object>(
    write: (db: Database, service: Service, inputs: readonly T[], context: WriteContext) => Promise<Upserted>,
  ) =>
  async (
    db: Database,
    service: Service,
    inputs: readonly (T & { newReferences?: readonly object[] })[],
    context: WriteContext,
  ) => {
    const added = inputs.flatMap(({ newReferences = [] }) => newReferences)
    const distinct = [...new Map(added.map(value => [JSON.stringify(value), value])).values()]
    if (distinct.length) await upsertReferences(db, service, distinct)
    return write(db, service, inputs, context)
  }

/** Rejects gateways above the limit of a service. */
export const prepareGateways: Prepare<Row> = async (db, service, rows) => {
  const names = new Set<unknown>(await listGatewayNames(db, service))
  const tooMany = new RowError(`can't be added, because a service can have at most ${maxGateways} gateways`, 'name')
  const inputs = rows.map(row => {
    if (!names.has(row.name) && names.size >= maxGateways) return tooMany
    names.add(row.name)
    return row
  })
  return { inputs }
}

function listDistinctTexts(rows: readonly Row[], column: string): string[] {
  const values = new Set<string>()
  for (const { [column]: value } of rows) if (typeof value === 'string') values.add(value)
  return [...values]
}

/** Loads the SKUs of rows, by `skuId` and by `sku`. */
async function loadSkus(db: Db, service: Service, rows: readonly Row[]) {
  const [ids, names] = [listDistinctTexts(rows, 'skuId'), listDistinctTexts(rows, 'sku')]
  const byId = ids.length ? await findSkusById(db, service, ids) : []
  const byName = names.length ? await findSkus(db, service, names) : []
  return {
    byId: new Map(byId.map(variant => [variant.skuId, variant])),
    byName: new Map(byName.map(variant => [variant.sku, variant])),
    /** Returns the SKU of a row. `skuId` overrides `sku`. */
    find({ skuId, sku }: Row) {
      return typeof skuId === 'string' ? this.byId.get(skuId) : this.byName.get(sku as string)
    },
  }
}

async function loadStores(db: Db, service: Service, rows: readonly Row[]) {
  const numbers = listDistinctTexts(rows, 'storeNumber')
  const stores = numbers.length ? await findStoresByNumber(db, service, numbers) : []
  return new Map(stores.map(store => [store.store_number, store]))
}

export const prepareStock: Prepare<Row> = async (db, service, rows) => {
  const [skus, stores] = await Promise.all([loadSkus(db, service, rows), loadStores(db, service, rows)])
  const inputs = rows.map(row => {
    const { sku: _, skuId, storeNumber, ...stock } = row
    const store = stores.get(storeNumber as string)
    if (!store) return createUnknownError('storeNumber', 'store')(row)
    const sku = skus.find(row)
    if (!sku) return createUnknownError(typeof skuId === 'string' ? 'skuId' : 'sku', 'SKU')(row)
    return { storeId: store.store_id, skuId: sku.skuId, ...stock }
  })
  return { inputs }
}

const unknownSku = 'unknown SKU: stored as null'
const unknownStore = 'unknown store number: stored without a name'

const differentHeader =
  'the sale date, store or customer differs from the first line of the transaction, and the later line applies: check that `id` is unique for each sale'

/** Adds a note if two sales may share an ID, such as receipt numbers that each till counts, because they become one transaction. */
function noteOtherHeaders(rows: readonly Row[], notes: Notes) {
  const firsts = new Map<unknown, Row>()
  for (const row of rows) {
    const first = firsts.get(row.id)
    if (!first) firsts.set(row.id, row)
    else if (
      differs(row.saleDate, first.saleDate) ||
      differs(row.storeNumber, first.storeNumber) ||
      differs(row.customerId, first.customerId)
    )
      note(notes, differentHeader)
  }
}
const differs = (value: unknown, first: unknown) => value !== undefined && value !== first

/** Returns the error of each transaction whose lines don't add up to its `total`, by its ID. */
function findWrongTotals(rows: readonly Row[], currency: string): Map<unknown, RowError> {
  const decimals = getDecimals(currency)
  const sums = new Map<unknown, bigint>()
  for (const row of rows) sums.set(row.id, (sums.get(row.id) ?? 0n) + computeSaleValue(row, decimals))
  const errors = new Map<unknown, RowError>()
  for (const { id, total } of rows) {
    const sum = sums.get(id) ?? 0n
    if (typeof total === 'string' && toMinorUnits(total, decimals) !== sum)
      errors.set(id, new RowError('must be the sum of the lines', 'total', formatAmount(sum, decimals)))
  }
  return errors
}

function computeSaleValue({ value, quantity, price, discountAmount }: Row, decimals: number): bigint {
  if (typeof value === 'string') return toMinorUnits(value, decimals)
  const discount = typeof discountAmount === 'string' ? toMinorUnits(discountAmount, decimals) : 0n
  const units = Number(quantity)
  return computePrice(units, String(price), decimals) - (units < 0 ? -discount : discount)
}

/** Unknown SKUs and stores are accepted with a note, because they can have been deleted since the sale. */
export const prepareTransactions: Prepare<Row> = async (db, service, rows) => {
  const [skus, stores] = await Promise.all([loadSkus(db, service, rows), loadStores(db, service, rows)])
  const notes: Notes = {}
  const ignoreWithNote = (text: string) => {
    note(notes, text)
    return null
  }
  noteOtherHeaders(rows, notes)
  const names: NameLookup = {
    store: number => stores.get(number)?.name ?? ignoreWithNote(unknownStore),
    sku: row => (row.skuId || row.sku ? (skus.find(row)?.sku ?? ignoreWithNote(unknownSku)) : null),
  }
  const errors = rows.some(({ total }) => total != null)
    ? findWrongTotals(rows, service.settings.currency)
    : new Map<unknown, RowError>()
  return { inputs: rows.map(row => errors.get(row.id) ?? toTransactionParts(row, names)), notes }
}

const unknownItem = 'unknown SKU: stored as in the file'
const itemWithoutSku = 'no SKU: stored by its name'
const unknownOrderStore = 'unknown store number: returns are not added to stock'

/** Groups rows to orders: the input of each row is its order. Unknown SKUs and stores are accepted with a note. */
export const prepareOrders: Prepare<Row> = async (db, service, rows) => {
  const { currency } = service.settings
  const skus = await loadSkus(db, service, rows)
  const stores = await loadStores(db, service, rows)
  const existingSkus = [...skus.byId.values(), ...skus.byName.values()].map(({ sku }) => sku)
  const variants = new Map(
    (await findVariants(db, service, existingSkus, getDecimals(currency))).map(variant => [variant.sku, variant]),
  )
  const customers = await findCustomersByEmail(db, service, listDistinctTexts(rows, 'customerEmail'))
  const customerIds = new Map(customers.map(({ email, id }) => [email, id]))
  const createItemLookup = (orderNotes: Notes) => ({
    customerId: (email: string) => customerIds.get(email),
    item(row: Row) {
      const variant = variants.get(skus.find(row)?.sku ?? '')
      if (!variant) note(orderNotes, row.sku || row.skuId ? unknownItem : itemWithoutSku)
      return toSoldItem(row, variant)
    },
    storeId(number: string) {
      const store = stores.get(number)
      if (!store) note(orderNotes, unknownOrderStore)
      return store?.store_id ?? null
    },
  })
  const notes: Notes = {}
  const inputs = groupByOrder(rows).flatMap((orderRows): (ImportedOrder | RowError)[] => {
    const orderNotes: Notes = {}
    const order = toOrder(orderRows, createItemLookup(orderNotes), currency)
    if (Array.isArray(order)) return order
    addNotes(notes, orderNotes)
    return orderRows.map(() => order)
  })
  return { inputs, notes }
}

/** Replaces PINs by keyed hashes. */
export const prepareVouchers: Prepare<Row> = async (_db, service, rows, keys) => {
  if (!keys) throw new Error('keys are required to hash PINs')
  const inputs = rows.map(({ status, ...row }) =>
    createImportedVoucher(keys, service, {
      ...(row as unknown as VoucherRow),
      state: status as ImportedState | undefined,
    }),
  )
  return { inputs }
}

/** Rejects rows whose `column` refers to a missing record, and translates the others. */
const requireExisting =
  (
    column: string,
    type: string,
    find: (db: Db, service: Service, ids: readonly string[]) => Promise<{ id: string }[]>,
    translate: (row: Row) => object = row => row,
  ): Prepare<Row> =>
  async (db, service, rows) => {
    const existing = new Set((await find(db, service, listDistinctTexts(rows, column))).map(({ id }) => id))
    const toError = createUnknownError(column, type)
    const inputs = rows.map(row => (existing.has(row[column] as string) ? translate(row) : toError(row)))
    return { inputs }
  }

export const prepareStoreMappings = requireExisting('storeId', 'store', findStoresById)

export const prepareSkuMappings = requireExisting('skuId', 'SKU', async (db, service, ids) =>
  (await findSkusById(db, service, ids)).map(({ skuId }) => ({ id: skuId })),
)

export const prepareCustomerMappings = (translate: (row: Row) => object) =>
  requireExisting('customerId', 'customer', findCustomersById, translate)
