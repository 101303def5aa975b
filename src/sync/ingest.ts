import type { Database } from '../database/db.ts'
import type { TransactionParts } from '../domain/orders/merge-lines.ts'
import type { FullSyncList, SyncRows, SyncRowType } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { type Notes, note } from '../import/pipeline/counts.ts'
import { type Ingestion, type Prepare, prepareUnchanged } from '../import/pipeline/ingest.ts'
import { listReportedSaleDoubts } from '../import/pipeline/rules.ts'
import { replacePriceChanges } from '../store/catalog/price-changes.ts'
import { upsertProducts } from '../store/catalog/products.ts'
import { upsertReferences } from '../store/catalog/references.ts'
import { upsertLocations, upsertStores } from '../store/catalog/stores.ts'
import { type StaleRowGuard, upsertCustomers, upsertCustomersUnlessNewer } from '../store/customers/customers.ts'
import { upsertPlatformItems } from '../store/ecommerce/items.ts'
import { upsertStock } from '../store/inventory/stock.ts'
import type { List, Upserted } from '../store/lists/change-timestamp.ts'
import type { WriteContext } from '../store/lists/outdated.ts'
import { replaceShipments } from '../store/orders/shipments.ts'
import { upsertBackOfficeSales } from '../store/orders/transactions.ts'
import { replaceRewardLots, upsertGifts, upsertPrograms, upsertRewardAccounts } from '../store/rewards/rewards.ts'
import {
  findSkusOfSoldItems,
  findStoresByNumberOrCode,
  resolveStock,
  type SoldItem,
  toSoldItemKey,
} from '../store/sync/lookups.ts'
import { updateOrders } from '../store/sync/open-orders.ts'
import { updateReturns } from '../store/sync/open-returns.ts'

/** Creates the context of a run's writes. Rows of a back office are never skipped as outdated, because it decides which record is newer. */
export const createSyncContext = (runId: string, requestedAt?: string): WriteContext => ({
  actor: { username: 'tillbridge (sync)', requestId: runId },
  skipOutdated: false,
  requestedAt,
})

/** How synced rows of a type are stored. */
export interface SyncIngestion<K extends SyncRowType> extends Ingestion<SyncRows[K]> {
  /** Set if the driver can't report the IDs that it has seen (`SyncBatch.seen`), because only `prepare` finds them. */
  // biome-ignore lint/suspicious/noExplicitAny: a result of `prepare`
  seen?: { list: FullSyncList; getId(input: any): string }
  /** Like `write`, for rows that can be older than the stored records. */
  writeUnlessNewer?(
    db: Database,
    service: Service,
    // biome-ignore lint/suspicious/noExplicitAny: a result of `prepare`
    inputs: readonly any[],
    guard: StaleRowGuard,
    context: WriteContext,
  ): Promise<Upserted>
}

/** Resolves the store and the SKU of stock rows. Skips rows without them. The last of several rows for one store and SKU counts. */
const prepareStock: Prepare<SyncRows['stock']> = async (db, service, rows) => {
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

/** Counts items that can't be mapped, such as variants without a SKU. They are not stored. */
const preparePlatformItems: Prepare<SyncRows['platformItems']> = async (_db, _service, rows) => {
  const unmappable = rows.filter(({ ecommerceId }) => ecommerceId === null).length
  return { inputs: rows, ...(unmappable && { notes: { 'without a SKU: not stored': unmappable } }) }
}

/** Replaces store names and product codes by store numbers and SKUs. */
const prepareTransactions: Prepare<SyncRows['transactions']> = async (db, service, rows) => {
  const names = rows.flatMap(({ header }) => header.storeNumber ?? [])
  const stores = await findStoresByNumberOrCode(db, service, [...new Set(names)])
  const items = rows.flatMap(({ line }) => getItem(line) ?? [])
  const skus = await findSkusOfSoldItems(db, service, items)
  const notes: Notes = {}
  const inputs = rows.map(({ header, line }): TransactionParts => {
    for (const doubt of listReportedSaleDoubts({ ...line, saleDate: header.saleDate })) note(notes, doubt)
    const number = header.storeNumber
    const item = getItem(line)
    const sku = item && skus.get(toSoldItemKey(item))
    return {
      header: number ? { ...header, storeNumber: stores.get(number) ?? number } : header,
      // A stored SKU stays: the product can have been deleted since the sale.
      line: sku === undefined ? line : { ...line, sku },
    }
  })
  return { inputs, notes }
}

function getItem({ productCode, colourCode, sizeCode }: SyncRows['transactions']['line']): SoldItem | undefined {
  return productCode ? { productCode, colourCode: colourCode ?? null, sizeCode: sizeCode ?? null } : undefined
}

/** Builds the ingestion of rows that are stored unchanged. */
const storeUnchanged = <R extends object>(
  write: (db: Database, service: Service, rows: readonly R[], context: WriteContext) => Promise<Upserted>,
  list?: List,
) => ({ prepare: prepareUnchanged, write, ...(list && { list }) })

/** The ingestion of each row type, in the order of their dependencies. */
export const ingestions: { readonly [K in SyncRowType]: SyncIngestion<K> } = {
  references: storeUnchanged<SyncRows['references']>(upsertReferences),
  stores: storeUnchanged<SyncRows['stores']>(upsertStores, 'store'),
  locations: storeUnchanged<SyncRows['locations']>(upsertLocations, 'store'),
  products: storeUnchanged<SyncRows['products']>(upsertProducts, 'product'),
  priceChanges: storeUnchanged<SyncRows['priceChanges']>(replacePriceChanges),
  rewardPrograms: storeUnchanged<SyncRows['rewardPrograms']>(upsertPrograms),
  rewardGifts: storeUnchanged<SyncRows['rewardGifts']>(upsertGifts),
  stock: {
    prepare: prepareStock,
    write: upsertStock,
    list: 'stock',
    seen: { list: 'stock', getId: ({ storeId, skuId }) => `${storeId} ${skuId}` },
  },
  customers: {
    prepare: prepareUnchanged,
    write: upsertCustomers,
    writeUnlessNewer: upsertCustomersUnlessNewer,
    list: 'customer',
    // The first customer with an address keeps it.
    clears: { customer_email: 'email' },
  },
  rewardAccounts: storeUnchanged<SyncRows['rewardAccounts']>(upsertRewardAccounts),
  rewardLots: storeUnchanged<SyncRows['rewardLots']>(replaceRewardLots),
  platformItems: { prepare: preparePlatformItems, write: upsertPlatformItems },
  orders: storeUnchanged<SyncRows['orders']>(updateOrders),
  shipments: storeUnchanged<SyncRows['shipments']>(replaceShipments),
  returns: storeUnchanged<SyncRows['returns']>(updateReturns),
  transactions: { prepare: prepareTransactions, write: upsertBackOfficeSales, list: 'retail_transaction' },
}
