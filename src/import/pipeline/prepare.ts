import type { Db } from '../../database/db.ts'
import { maxGateways } from '../../domain/tenancy/gateways.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getDecimals } from '../../domain/values/money.ts'
import type { ImportedState, VoucherRow } from '../../domain/vouchers/voucher-row.ts'
import { findSkus, findSkusById } from '../../store/catalog/skus.ts'
import { findStoresById, findStoresByNumber } from '../../store/catalog/stores.ts'
import { findCustomersById } from '../../store/customers/customers.ts'
import type { ImportedOrder } from '../../store/orders/imported-orders.ts'
import { findVariants } from '../../store/orders/place.ts'
import { listGatewayNames } from '../../store/tenancy/gateways.ts'
import { createImportedVoucher } from '../../store/vouchers/imported-vouchers.ts'
import { addNotes, type Notes, note } from './counts.ts'
import type { Prepare, Row } from './ingest.ts'
import { type Names, transactionFrom } from './inputs.ts'
import { orderFrom, rowsByOrder, type SoldItems, soldItem } from './orders.ts'
import { RowError } from './row-error.ts'

/** The rows, each translated by itself. */
export const each =
  (translate: (row: Row) => object): Prepare<Row> =>
  async (_db, _service, rows) => ({ inputs: rows.map(translate) })

/** The gateways, as far as a service may have more. */
export const gatewaysFrom: Prepare<Row> = async (db, service, rows) => {
  const names = new Set<unknown>(await listGatewayNames(db, service))
  const tooMany = new RowError(`is one more than the ${maxGateways} that there may be`, 'name')
  const inputs = rows.map(row => {
    if (!names.has(row.name) && names.size >= maxGateways) return tooMany
    names.add(row.name)
    return row
  })
  return { inputs }
}

function given(rows: readonly Row[], column: string): string[] {
  const found = new Set<string>()
  for (const { [column]: value } of rows) if (typeof value === 'string') found.add(value)
  return [...found]
}

/** SKUs by what rows name them. */
async function skusOf(db: Db, service: Service, rows: readonly Row[]) {
  const [ids, names] = [given(rows, 'skuId'), given(rows, 'sku')]
  const byId = ids.length ? await findSkusById(db, service, ids) : []
  const byName = names.length ? await findSkus(db, service, names) : []
  return {
    byId: new Map(byId.map(found => [found.skuId, found])),
    byName: new Map(byName.map(found => [found.sku, found])),
    /** The SKU of a row; `skuId` outranks `sku`. */
    of({ skuId, sku }: Row) {
      return typeof skuId === 'string' ? this.byId.get(skuId) : this.byName.get(sku as string)
    },
  }
}

async function storesOf(db: Db, service: Service, rows: readonly Row[]) {
  const numbers = given(rows, 'storeNumber')
  const stores = numbers.length ? await findStoresByNumber(db, service, numbers) : []
  return new Map(stores.map(store => [store.store_number, store]))
}

/** Stock of known SKUs in known stores. */
export const stockFrom: Prepare<Row> = async (db, service, rows) => {
  const [skus, stores] = await Promise.all([skusOf(db, service, rows), storesOf(db, service, rows)])
  const inputs = rows.map(row => {
    const { sku: _, skuId, storeNumber, ...stock } = row
    const store = stores.get(storeNumber as string)
    if (!store) return new RowError('names no store', 'storeNumber', storeNumber)
    const sku = skus.of(row)
    const column = typeof skuId === 'string' ? 'skuId' : 'sku'
    if (!sku) return new RowError('names no SKU of a product', column, row[column])
    return { storeId: store.store_id, skuId: sku.skuId, ...stock }
  })
  return { inputs }
}

const withoutProduct = 'name a SKU that no product carries: shown as null'
const withoutStore = 'name a store number that no store has: shown without a name'

const withOtherHeader =
  'say another sale date, store or customer than the first line of their transaction, and the later line counts: see whether `id` tells all sales apart'

/** Two sales with one number, such as a receipt's that is counted by each till, would become one without a word. */
function noteOtherHeaders(rows: readonly Row[], notes: Notes) {
  const firsts = new Map<unknown, Row>()
  for (const row of rows) {
    const first = firsts.get(row.id)
    if (!first) firsts.set(row.id, row)
    else if (
      isOther(row.saleDate, first.saleDate) ||
      isOther(row.storeNumber, first.storeNumber) ||
      isOther(row.customerId, first.customerId)
    )
      note(notes, withOtherHeader)
  }
}
const isOther = (value: unknown, first: unknown) => value !== undefined && value !== first

/** Lines of transactions; what they name and nobody knows is no fault, for it may be long gone. */
export const transactionsFrom: Prepare<Row> = async (db, service, rows) => {
  const [skus, stores] = await Promise.all([skusOf(db, service, rows), storesOf(db, service, rows)])
  const notes: Notes = {}
  const without = (text: string) => {
    note(notes, text)
    return null
  }
  noteOtherHeaders(rows, notes)
  const names: Names = {
    store: number => stores.get(number)?.name ?? without(withoutStore),
    sku: row => (row.skuId || row.sku ? (skus.of(row)?.sku ?? without(withoutProduct)) : null),
  }
  return { inputs: rows.map(row => transactionFrom(row, names)), notes }
}

const withoutItem = 'name a SKU that no product carries: taken as they stand'
const withoutStock = 'name a store number that no store has: what is returned of them goes into no stock'

/** Orders, each one input for all its rows; what is sold, and nobody knows any more, is taken as it stands. */
export const ordersFrom: Prepare<Row> = async (db, service, rows) => {
  const { currency } = service.settings
  const skus = await skusOf(db, service, rows)
  const stores = await storesOf(db, service, rows)
  const known = [...skus.byId.values(), ...skus.byName.values()].map(({ sku }) => sku)
  const variants = new Map(
    (await findVariants(db, service, known, getDecimals(currency))).map(variant => [variant.sku, variant]),
  )
  const itemsBy = (batchNotes: Notes): SoldItems => ({
    item(row) {
      const variant = variants.get(skus.of(row)?.sku ?? '')
      if (!variant) note(batchNotes, withoutItem)
      return soldItem(row, variant)
    },
    storeId(number) {
      const store = stores.get(number)
      if (!store) note(batchNotes, withoutStock)
      return store?.store_id ?? null
    },
  })
  const notes: Notes = {}
  const inputs = rowsByOrder(rows).flatMap((own): (ImportedOrder | RowError)[] => {
    const ofOrder: Notes = {}
    const order = orderFrom(own, itemsBy(ofOrder), currency)
    if (Array.isArray(order)) return order
    addNotes(notes, ofOrder)
    return own.map(() => order)
  })
  return { inputs, notes }
}

/** Vouchers; of the PIN a keyed hash is left. */
export const vouchersFrom: Prepare<Row> = async (_db, service, rows, keys) => {
  if (!keys) throw new Error('a PIN is hashed with the key of the installation')
  const inputs = rows.map(({ status, ...row }) =>
    createImportedVoucher(keys, service, {
      ...(row as unknown as VoucherRow),
      state: status as ImportedState | undefined,
    }),
  )
  return { inputs }
}

/** Rows whose `column` names something that exists, translated. */
const existing =
  (
    column: string,
    what: string,
    find: (db: Db, service: Service, ids: readonly string[]) => Promise<{ id: string }[]>,
    translate: (row: Row) => object = row => row,
  ): Prepare<Row> =>
  async (db, service, rows) => {
    const known = new Set((await find(db, service, given(rows, column))).map(found => found.id))
    const inputs = rows.map(row =>
      known.has(row[column] as string) ? translate(row) : new RowError(`names no ${what}`, column, row[column]),
    )
    return { inputs }
  }

export const ofStores = existing('storeId', 'store', findStoresById)

export const ofSkus = existing('skuId', 'SKU of a product', async (db, service, ids) =>
  (await findSkusById(db, service, ids)).map(found => ({ id: found.skuId })),
)

export const ofCustomers = (translate: (row: Row) => object) =>
  existing('customerId', 'customer', findCustomersById, translate)
