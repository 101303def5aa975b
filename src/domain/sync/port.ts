import type { Static, TObject } from '../../schemas/schemas.ts'
import type { ProductRow } from '../catalog/products.ts'
import type { ReferenceRow } from '../catalog/references.ts'
import type { StoreKind, StoreRow } from '../catalog/stores.ts'
import type { CustomerRow } from '../customers/customers.ts'
import type { PlatformItem, platformLists } from '../ecommerce/items.ts'
import type { TransactionParts } from '../orders/merge-lines.ts'
import type { LineStatus } from '../orders/orders.ts'
import type { ReportedReturnLine } from '../orders/return-rules.ts'
import type { ReturnStatus } from '../orders/returns.ts'
import type { ReportedShipment } from '../orders/shipments.ts'
import type { RewardAccountRow, RewardLotRow, RewardProgramRow } from '../rewards/rewards.ts'
import type { Settings } from '../tenancy/service-settings.ts'

/** A row whose optional fields can be null, which clears the stored value. A missing field keeps it (contributing/decisions/0005). */
type Clearing<T extends TObject> = {
  [K in keyof Static<T>]: undefined extends Static<T>[K] ? Static<T>[K] | null : Static<T>[K]
}
type Product = Clearing<typeof ProductRow>
type Program = Clearing<typeof RewardProgramRow>

/** Free stock by the back office's IDs. Without `skuId`, it is the stock of the only SKU of the product or the colour. */
export interface SyncStockRow {
  storeId: string
  skuId?: string
  productId?: string
  colourId?: string
  freeStock: number
  updateTimeStamp?: string | null
}

/** The rows of each type, as the store functions accept them. */
export interface SyncRows {
  references: Clearing<typeof ReferenceRow>
  stores: Clearing<typeof StoreRow>
  /** Locations with stock that the list of stores doesn't have. A missing field keeps the stored value. */
  locations: { storeId: string; kind?: StoreKind; name?: string; storeNumber?: string }
  products: {
    product: Pick<Product, 'productId' | 'productCode' | 'name' | 'description' | 'sizeRange' | 'updateTimeStamp'> & {
      referenceValues: Record<string, string>
    }
    colour: Pick<Product, 'productId' | 'colourId' | 'markdownStatus'> & { code: string | null; name: string | null }
    variant: Pick<
      Product,
      'productId' | 'colourId' | 'skuId' | 'sizeCode' | 'sequence' | 'originalPrice' | 'price' | 'barcode'
    >
  }
  /** All coming prices of a SKU, earliest first. Rows of unknown SKUs are ignored. */
  priceChanges: { skuId: string; changes: { from: string; price: string }[] }
  stock: SyncStockRow
  customers: Omit<Clearing<typeof CustomerRow>, 'references'> & { referenceValues: Record<string, string> }
  /** `header.storeNumber` can be a store's code. `line.sku` is resolved from the codes of product, colour and size. */
  transactions: TransactionParts
  rewardPrograms: {
    program: { programId: string; name: string; description: string | null }
    tier: Omit<Program, 'programName' | 'description' | 'tierName' | 'tierSequence'> & {
      name: string
      sequence: number
    }
  }
  rewardGifts: { programId: string; giftId: string; name: string; styles: string[] }
  rewardAccounts: Clearing<typeof RewardAccountRow>
  /** Lines of a Tillbridge order that are no longer `processing`. */
  orders: { orderId: string; steps: { sequence: number; status: LineStatus }[] }
  /** All shipments of an order. Stored shipments that are not in the list are removed. Without `shipments`, nothing is known. */
  shipments: { orderId: string; shipments: ReportedShipment[] }
  platformItems: PlatformItem
  /** The status of a Tillbridge return in the back office, with the back office's word for it. `status`: null if the word is unknown. */
  returns: {
    returnId: string
    orderId: string
    status: ReturnStatus | null
    word: string
    lines: readonly ReportedReturnLine[]
  }
  /** All open lots of an account. Stored lots that are not in the list have ended. */
  rewardLots: {
    accountId: string
    lots: (Omit<Clearing<typeof RewardLotRow>, 'kind'> & { kind: 'points' | 'reward' | 'gift' })[]
  }
}

export type SyncRowType = keyof SyncRows

/** The lists of which a full sync reads every record. */
export type FullSyncList =
  | 'product'
  | 'variant'
  | 'stock'
  | 'customer'
  | (typeof platformLists)[keyof typeof platformLists]

/** A record whose details must be requested one by one. It is due whenever its version changes. */
export interface Refresh {
  id: string
  version: string
}

/** A value of the reference cache: its type in camelCase, and its ID. */
export interface ReferenceKey {
  type: string
  value: string
}

/**
 * An order that something can still happen to: a line is `processing`, or it was shipped in the last days, so that its parcels can be
 * split. All its lines, by the back office's SKUs.
 */
export interface OpenOrder {
  id: string
  customerId: string
  /** The tracking numbers of its stored shipments. Null: it has none. */
  trackingNumbers: (string | null)[] | null
  lines: { sequence: number; skuId: string; quantity: number; isOpen: boolean }[]
}

/** A return that is neither refunded nor cancelled, with the IDs under which the back office has it. */
export interface OpenReturn {
  id: string
  backOfficeId: string
  orderId: string
  customerId: string
  status: ReturnStatus
  /** The back office's word for the status, as it was last read. */
  word: string | null
}

/** Reward accounts that no longer exist: one by its ID, or all of a customer except those in `has`. */
export type RemovedAccounts = { accountId: string } | { customerId: string; has: readonly string[] }

/** A part of the result of a sync. It is stored before the next one is requested. */
export interface SyncBatch {
  rows?: { [K in SyncRowType]?: SyncRows[K][] }
  /** The IDs of all records in this batch, including rejected ones: to count them, and to find removed records. */
  seen?: { list: string; ids: readonly string[] }[]
  /**
   * An instant before the request (`SyncRequest.now`), if its result can be older than the stored records. Customers that have changed
   * since then are kept, and requested again (`SyncDefinition.refetch`).
   */
  requestedAt?: string
  /** Why records were rejected: one entry a record. */
  rejected?: readonly string[]
  /** True if a rejected record is not in `seen`. Then no record counts as removed. */
  isSeenIncomplete?: boolean
  removedAccounts?: readonly RemovedAccounts[]
  /** Refreshes that become due in other syncs. */
  dueRefreshes?: { sync: string; due: readonly Refresh[] }[]
  /** The refresh that this batch completes, and when its data was requested. */
  completedRefresh?: Refresh & { at: Date }
  /** A customer whose open orders this batch contains, and when they were requested. */
  polledCustomer?: { id: string; at: Date }
  /** The ID of the open return that was requested for this batch. */
  polledReturn?: string
  end?: SyncEnd
}

/** The end of a sync, in its last batch. */
export interface SyncEnd {
  /** The checkpoint for the next run. Absent: the checkpoint stays. */
  since?: string
  /** The minimum number of records of a list. If fewer were seen, the run fails. */
  total?: { list: string; atLeast: number }
  /** True if the sync requested nothing: its source can't list changes, and a full sync is not due. */
  isIdle?: true
}

export interface SyncRequest {
  /** The checkpoint of the last run. Undefined: a full sync. */
  since: string | undefined
  settings: Settings
  /** Returns the values that the reference cache doesn't have. */
  unknownReferences(keys: readonly ReferenceKey[]): Promise<ReferenceKey[]>
  skusWithPriceChanges(): Promise<string[]>
  /** Returns the kinds of stored stores, by ID. */
  storeKinds(ids: readonly string[]): Promise<ReadonlyMap<string, StoreKind>>
  /** Returns the open orders that are due: those that have changed lately in each run, older ones less often. */
  openOrders(): Promise<OpenOrder[]>
  /** Returns the open returns, least recently polled first. */
  openReturns(): Promise<OpenReturn[]>
  /** Returns the current instant by Tillbridge's clock. */
  now(): Promise<string>
  /** The due refreshes of this sync. */
  refreshes: AsyncIterable<Refresh>
  signal: AbortSignal
}

/** One sync of a driver: its schedule, and how to read from the back office. */
export interface SyncDefinition {
  name: string
  /** The system that the sync reads. Default: the back office. */
  origin?: 'ecommerce'
  /** Seconds between two runs. */
  intervalSeconds: number
  /** Seconds between two full syncs, because changes alone can miss records. Absent: every run is a full sync. */
  fullIntervalSeconds?: number
  /** How far back changes can be requested, in seconds. If the last run is longer ago, the next one is a full sync. */
  maxLookbackSeconds?: number
  /** The lists of which a completed full sync has seen every record: unseen records are removed. */
  fullLists?: readonly FullSyncList[]
  /** Requests unseen records one by one, and returns those that still exist. Absent: none exist. */
  findExisting?(ids: readonly string[], signal: AbortSignal): Promise<string[]>
  /** Requests customers again that have changed in Tillbridge since they were requested. */
  refetch?(ids: readonly string[], request: SyncRequest): AsyncIterable<SyncBatch>
  /** Set if the sync requests records one by one: a refresh is due after this time even if no change is known. */
  refreshIntervalSeconds?: number
  fetch(request: SyncRequest): AsyncIterable<SyncBatch>
}
