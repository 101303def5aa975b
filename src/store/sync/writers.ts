import type { Database } from '../../db.ts'
import type { FeedRows, RowKind, WholeList } from '../../domain/port/feed.ts'
import type { Service } from '../../settings.ts'
import { upsertCustomers } from '../customers/customers.ts'
import { upsertProducts } from '../goods/products.ts'
import { upsertReferences } from '../goods/references.ts'
import { upsertStock } from '../goods/stock.ts'
import { upsertStores } from '../goods/stores.ts'
import type { Upserted } from '../lists/change.ts'
import { upsertTransactions } from '../orders/transactions.ts'
import { upsertGifts, upsertPrograms, upsertRewardAccounts, upsertRewardLots } from '../rewards/rewards.ts'
import { persistently } from '../running/contention.ts'
import { keepLots, knownStock, type SoldItem, skusOfSoldItems, soldItemKey, storesByNumberOrCode } from './lookups.ts'
import { followOrders } from './orders.ts'

/** What became of rows. */
export interface Written extends Upserted {
  read: number
  refused: number
  /** Why rows were refused, or are not quite what was sent; with how many. */
  notes: Record<string, number>
  /** What the rows turned out to be of a list that only the database can tell. */
  seen?: { list: WholeList; ids: readonly string[] }
}

type Write<Row> = (db: Database, service: Service, rows: readonly Row[]) => Promise<Upserted>
type Writer<K extends RowKind> = (db: Database, service: Service, rows: readonly FeedRows[K][]) => Promise<Written>

/** Puts rows of each kind into the store: in this order, since some need others. */
export const writers: { readonly [K in RowKind]: Writer<K> } = {
  references: rowByRow(upsertReferences),
  stores: rowByRow(upsertStores),
  products: rowByRow(upsertProducts),
  rewardPrograms: rowByRow(upsertPrograms),
  rewardGifts: rowByRow(upsertGifts),
  async stock(db, service, rows) {
    const known = await knownStock(db, service, rows)
    const written = await rowByRow(upsertStock)(db, service, known)
    const unknown = rows.length - known.length
    if (unknown) note(written, 'stock of a store or a SKU that is not known here: left out', unknown)
    return {
      ...written,
      read: rows.length,
      seen: { list: 'stock', ids: known.map(row => `${row.storeId} ${row.skuId}`) },
    }
  },
  customers: rowByRow<FeedRows['customers']>(upsertCustomers, {
    // The customer is more than the address; whoever had it first keeps it.
    customer_email: row => ({ ...row, email: null }),
  }),
  rewardAccounts: rowByRow(upsertRewardAccounts),
  async rewardLots(db, service, rows) {
    for (const { accountId, lots } of rows) await keepLots(db, service, accountId, lots)
    return rowByRow(upsertRewardLots)(
      db,
      service,
      rows.flatMap(row => row.lots),
    )
  },
  orders: rowByRow(followOrders),
  async transactions(db, service, rows) {
    const names = rows.flatMap(({ header }) => header.storeNumber ?? [])
    const stores = await storesByNumberOrCode(db, service, [...new Set(names)])
    const items = rows.flatMap(({ line }) => itemOf(line) ?? [])
    const skus = await skusOfSoldItems(db, service, items)
    const found = rows.map(({ header, line }) => {
      const number = header.storeNumber
      const item = itemOf(line)
      const sku = item && skus.get(soldItemKey(item))
      return {
        header: number ? { ...header, storeNumber: stores.get(number) ?? number } : header,
        // One that is not found now may have been when it was sold.
        line: sku === undefined ? line : { ...line, sku },
      }
    })
    return rowByRow(upsertTransactions)(db, service, found)
  },
}

function itemOf({ productCode, colourCode, sizeCode }: FeedRows['transactions']['line']): SoldItem | undefined {
  return productCode ? { productCode, colourCode: colourCode ?? null, sizeCode: sizeCode ?? null } : undefined
}

const note = ({ notes }: Written, text: string, count = 1) => {
  notes[text] = (notes[text] ?? 0) + count
}

/** Rows of a transaction. */
const rowsAtOnce = 1_000

/** Why the database refuses a row, by the name of the constraint; and what a row is put in as instead. */
const reasons: Readonly<Record<string, string>> = {
  customer_email: 'have the e-mail address of another customer: kept without it',
  store_service_id_store_number_key: 'have the number of another store: refused',
  variant_service_id_sku_key: 'have the e-commerce SKU of another one: refused',
  reward_account_service_id_customer_id_key: 'are a second reward account of a customer: refused',
  reward_account_service_id_customer_id_fkey: 'are of a customer that is not known here: refused',
  reward_account_service_id_program_id_fkey: 'are of a rewards programme that is not known here: refused',
  reward_account_service_id_program_id_tier_id_fkey: 'are of a tier that is not known here: refused',
  reward_lot_service_id_account_id_fkey: 'are of a reward account that is not known here: refused',
}

type Instead<Row> = Readonly<Record<string, (row: Row) => Row>>

/** Puts rows in; where the database refuses some, in halves, until those it refuses are alone. */
function rowByRow<Row extends object>(write: Write<Row>, instead: Instead<Row> = {}) {
  return async (db: Database, service: Service, rows: readonly Row[]): Promise<Written> => {
    const written: Written = { read: rows.length, inserted: 0, changed: 0, refused: 0, notes: {} }
    const put = async (some: readonly Row[], refuse: (row: Row, constraint: string) => Promise<void>) => {
      if (!some.length) return
      try {
        const { inserted, changed } = await persistently(() => write(db, service, some))
        written.inserted += inserted
        written.changed += changed
      } catch (error) {
        const constraint = refusalOf(error)
        const [only] = some
        if (constraint === undefined || !only) throw error
        if (some.length === 1) return refuse(only, constraint)
        const half = some.length >> 1
        await put(some.slice(0, half), refuse)
        await put(some.slice(half), refuse)
      }
    }
    const refuse = async (row: Row, constraint: string) => {
      note(written, reasons[constraint] ?? 'contradict another record, or cannot be stored: refused')
      const other = instead[constraint]
      if (other) await put([other(row)], async () => void written.refused++)
      else written.refused++
    }
    const again: Row[] = []
    for (let at = 0; at < rows.length; at += rowsAtOnce)
      await put(rows.slice(at, at + rowsAtOnce), async row => void again.push(row))
    // What stood in the way may have moved by now: two stores that change their numbers.
    for (const row of again) await put([row], refuse)
    return written
  }
}

/** The constraint that refuses a row, or nothing but that (SQLSTATE 21000, classes 22 and 23); undefined for other errors. */
function refusalOf(error: unknown): string | undefined {
  const { code = '', constraint = '' } = error as { code?: string; constraint?: string }
  return /^(21000$|22|23)/.test(code) ? constraint : undefined
}
