import type { Database } from '../database/db.ts'
import type { TransactionParts } from '../domain/orders/merge-lines.ts'
import type { FeedRows, RowKind, WholeList } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { asTheyAre, type Intake, type Prepare } from '../import/pipeline/ingest.ts'
import { upsertProducts } from '../store/catalog/products.ts'
import { upsertReferences } from '../store/catalog/references.ts'
import { upsertStores } from '../store/catalog/stores.ts'
import { type AskedAfter, upsertCustomers, upsertCustomersAskedAfter } from '../store/customers/customers.ts'
import { upsertStock } from '../store/inventory/stock.ts'
import type { List, Upserted } from '../store/lists/change-timestamp.ts'
import { upsertSalesTold } from '../store/orders/transactions.ts'
import { replaceRewardLots, upsertGifts, upsertPrograms, upsertRewardAccounts } from '../store/rewards/rewards.ts'
import { knownStock, type SoldItem, skusOfSoldItems, soldItemKey, storesByNumberOrCode } from '../store/sync/lookups.ts'
import { followOrders } from '../store/sync/open-orders.ts'

/** How pulled rows of a kind get into the store. */
export interface PullIntake<K extends RowKind> extends Intake<FeedRows[K]> {
  /** The list whose records the inputs are, where only the database can tell which. */
  // biome-ignore lint/suspicious/noExplicitAny: what `prepare` made
  shows?: { list: WholeList; idOf(input: any): string }
  /** The same as `write`, of rows that may be older than what is there. */
  // biome-ignore lint/suspicious/noExplicitAny: what `prepare` made
  writeAskedAfter?(db: Database, service: Service, inputs: readonly any[], asked: AskedAfter): Promise<Upserted>
}

/** Stock whose store and SKU are known. */
const knownOnly: Prepare<FeedRows['stock']> = async (db, service, rows) => {
  const inputs = await knownStock(db, service, rows)
  const unknown = rows.length - inputs.length
  return {
    inputs,
    ...(unknown && { leftOut: { 'stock of a store or a SKU that is not known here: left out': unknown } }),
  }
}

/** Lines of transactions, with the stores and the SKUs that their names and codes stand for. */
const identified: Prepare<FeedRows['transactions']> = async (db, service, rows) => {
  const names = rows.flatMap(({ header }) => header.storeNumber ?? [])
  const stores = await storesByNumberOrCode(db, service, [...new Set(names)])
  const items = rows.flatMap(({ line }) => itemOf(line) ?? [])
  const skus = await skusOfSoldItems(db, service, items)
  const inputs = rows.map(({ header, line }): TransactionParts => {
    const number = header.storeNumber
    const item = itemOf(line)
    const sku = item && skus.get(soldItemKey(item))
    return {
      header: number ? { ...header, storeNumber: stores.get(number) ?? number } : header,
      // One that is not found now may have been when it was sold.
      line: sku === undefined ? line : { ...line, sku },
    }
  })
  return { inputs }
}

function itemOf({ productCode, colourCode, sizeCode }: FeedRows['transactions']['line']): SoldItem | undefined {
  return productCode ? { productCode, colourCode: colourCode ?? null, sizeCode: sizeCode ?? null } : undefined
}

/** Rows that the store takes as they are. */
const plain = <R extends object>(
  write: (db: Database, service: Service, rows: readonly R[]) => Promise<Upserted>,
  list?: List,
) => ({ prepare: asTheyAre, write, ...(list && { list }) })

/** How the rows of each kind get in: in this order, since some need others. */
export const intakes: { readonly [K in RowKind]: PullIntake<K> } = {
  references: plain<FeedRows['references']>(upsertReferences),
  stores: plain<FeedRows['stores']>(upsertStores, 'store'),
  products: plain<FeedRows['products']>(upsertProducts, 'product'),
  rewardPrograms: plain<FeedRows['rewardPrograms']>(upsertPrograms),
  rewardGifts: plain<FeedRows['rewardGifts']>(upsertGifts),
  stock: {
    prepare: knownOnly,
    write: upsertStock,
    list: 'stock',
    shows: { list: 'stock', idOf: ({ storeId, skuId }) => `${storeId} ${skuId}` },
  },
  customers: {
    prepare: asTheyAre,
    write: upsertCustomers,
    writeAskedAfter: upsertCustomersAskedAfter,
    list: 'customer',
    // Whoever had the address first keeps it.
    clears: { customer_email: 'email' },
  },
  rewardAccounts: plain<FeedRows['rewardAccounts']>(upsertRewardAccounts),
  rewardLots: plain<FeedRows['rewardLots']>(replaceRewardLots),
  orders: plain<FeedRows['orders']>(followOrders),
  transactions: { prepare: identified, write: upsertSalesTold, list: 'retail_transaction' },
}
