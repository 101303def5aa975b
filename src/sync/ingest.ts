import type { Database } from '../database/db.ts'
import type { TransactionParts } from '../domain/orders/merge-lines.ts'
import type { FullSyncList, SyncRows, SyncRowType } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { note } from '../import/pipeline/counts.ts'
import { type Ingestion, type Prepare, unchangedRows } from '../import/pipeline/ingest.ts'
import { upsertProducts } from '../store/catalog/products.ts'
import { upsertReferences } from '../store/catalog/references.ts'
import { upsertLocations, upsertStores } from '../store/catalog/stores.ts'
import { type StaleRowGuard, upsertCustomers, upsertCustomersUnlessNewer } from '../store/customers/customers.ts'
import { upsertStock } from '../store/inventory/stock.ts'
import type { List, Upserted } from '../store/lists/change-timestamp.ts'
import { upsertBackOfficeSales } from '../store/orders/transactions.ts'
import { replaceRewardLots, upsertGifts, upsertPrograms, upsertRewardAccounts } from '../store/rewards/rewards.ts'
import {
  resolveStock,
  type SoldItem,
  skusOfSoldItems,
  soldItemKey,
  storesByNumberOrCode,
} from '../store/sync/lookups.ts'
import { followOrders } from '../store/sync/open-orders.ts'
import { followReturns } from '../store/sync/open-returns.ts'

/** How pulled rows of a kind get into the store. */
export interface SyncIngestion<K extends SyncRowType> extends Ingestion<SyncRows[K]> {
  /** The list whose records the inputs are, where only the database can tell which. */
  // biome-ignore lint/suspicious/noExplicitAny: what `prepare` made
  shows?: { list: FullSyncList; idOf(input: any): string }
  /** The same as `write`, of rows that may be older than what is there. */
  // biome-ignore lint/suspicious/noExplicitAny: what `prepare` made
  writeUnlessNewer?(db: Database, service: Service, inputs: readonly any[], asked: StaleRowGuard): Promise<Upserted>
}

/** Resolves the store and the SKU of stock rows. Skips rows without them. The last of several rows for one store and SKU counts. */
const resolved: Prepare<SyncRows['stock']> = async (db, service, rows) => {
  const skipped: Record<string, number> = {}
  const skip = (reason: string) => note(skipped, `${reason}: skipped`)
  const inputs = new Map<string, object>()
  for (const [i, { storeId, skuId, skus }] of (await resolveStock(db, service, rows)).entries()) {
    const { freeStock, updateTimeStamp = null } = rows[i] as SyncRows['stock']
    if (storeId === null) skip('stock of an unknown store')
    else if (skuId === null) skip('stock of an unknown SKU')
    else if (skus > 1) skip('stock of a product that has several SKUs')
    else {
      const key = `${storeId}\0${skuId}`
      if (inputs.has(key)) skip('stock that the same response changes again')
      inputs.set(key, { storeId, skuId, freeStock, updateTimeStamp })
    }
  }
  return { inputs: [...inputs.values()], skipped }
}

/** Lines of transactions, with the stores and the SKUs that their names and codes stand for. */
const identified: Prepare<SyncRows['transactions']> = async (db, service, rows) => {
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

function itemOf({ productCode, colourCode, sizeCode }: SyncRows['transactions']['line']): SoldItem | undefined {
  return productCode ? { productCode, colourCode: colourCode ?? null, sizeCode: sizeCode ?? null } : undefined
}

/** Rows that the store takes as they are. */
const plain = <R extends object>(
  write: (db: Database, service: Service, rows: readonly R[]) => Promise<Upserted>,
  list?: List,
) => ({ prepare: unchangedRows, write, ...(list && { list }) })

/** How the rows of each kind get in: in this order, since some need others. */
export const ingestions: { readonly [K in SyncRowType]: SyncIngestion<K> } = {
  references: plain<SyncRows['references']>(upsertReferences),
  stores: plain<SyncRows['stores']>(upsertStores, 'store'),
  locations: plain<SyncRows['locations']>(upsertLocations, 'store'),
  products: plain<SyncRows['products']>(upsertProducts, 'product'),
  rewardPrograms: plain<SyncRows['rewardPrograms']>(upsertPrograms),
  rewardGifts: plain<SyncRows['rewardGifts']>(upsertGifts),
  stock: {
    prepare: resolved,
    write: upsertStock,
    list: 'stock',
    shows: { list: 'stock', idOf: ({ storeId, skuId }) => `${storeId} ${skuId}` },
  },
  customers: {
    prepare: unchangedRows,
    write: upsertCustomers,
    writeUnlessNewer: upsertCustomersUnlessNewer,
    list: 'customer',
    // Whoever had the address first keeps it.
    clears: { customer_email: 'email' },
  },
  rewardAccounts: plain<SyncRows['rewardAccounts']>(upsertRewardAccounts),
  rewardLots: plain<SyncRows['rewardLots']>(replaceRewardLots),
  orders: plain<SyncRows['orders']>(followOrders),
  returns: plain<SyncRows['returns']>(followReturns),
  transactions: { prepare: identified, write: upsertBackOfficeSales, list: 'retail_transaction' },
}
