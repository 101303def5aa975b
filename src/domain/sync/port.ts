import type { Static, TObject } from '../../schemas/schemas.ts'
import type { ProductRow } from '../catalog/products.ts'
import type { ReferenceRow } from '../catalog/references.ts'
import type { StoreRow } from '../catalog/stores.ts'
import type { CustomerRow } from '../customers/customers.ts'
import type { TransactionParts } from '../orders/merge-lines.ts'
import type { LineStatus } from '../orders/orders.ts'
import type { RewardAccountRow, RewardLotRow, RewardProgramRow } from '../rewards/rewards.ts'
import type { Settings } from '../tenancy/service-settings.ts'

/** A row whose optional fields may be null, which clears what is stored; one that is missing keeps it (contributing/decisions/0005). */
type Clearing<T extends TObject> = {
  [K in keyof Static<T>]: undefined extends Static<T>[K] ? Static<T>[K] | null : Static<T>[K]
}
type Product = Clearing<typeof ProductRow>
type Program = Clearing<typeof RewardProgramRow>

/** Free stock, by the back office's identifiers. Without `skuId` it is that of the product's, or the colour's, only SKU. */
export interface StockFeedRow {
  storeId: string
  skuId?: string
  productId?: string
  colourId?: string
  freeStock: number
  updateTimeStamp?: string | null
}

/** What a feed may bring, as the functions of the store take it. A customer's `stamp` is not among it: see `Visit`. */
export interface FeedRows {
  references: Clearing<typeof ReferenceRow>
  stores: Clearing<typeof StoreRow>
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
  stock: StockFeedRow
  customers: Omit<Clearing<typeof CustomerRow>, 'references'> & { referenceValues: Record<string, string> }
  /** `header.storeNumber` may be a store's code; `line.sku` is found by the codes of product, colour and size. */
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
  /** Lines of an order of ours that are not `processing` any more. */
  orders: { orderId: string; steps: { sequence: number; status: LineStatus }[] }
  /** All open lots of an account: others that are stored of it have ended. */
  rewardLots: {
    accountId: string
    lots: (Omit<Clearing<typeof RewardLotRow>, 'kind'> & { kind: 'points' | 'reward' | 'gift' })[]
  }
}

export type RowKind = keyof FeedRows

/** The lists of which a whole pull shows every record there is. */
export type WholeList = 'product' | 'variant' | 'stock' | 'customer'

/** A record of which more has to be fetched one by one; it is due whenever its `stamp` is another one. */
export interface Visit {
  id: string
  stamp: string
}

/** A value of the reference cache: its type, in camelCase, and its identifier. */
export interface ReferenceKey {
  type: string
  value: string
}

/** An order some of whose lines are still `processing`: all of its lines, by the back office's SKUs. */
export interface OpenOrder {
  id: string
  customerId: string
  lines: { sequence: number; skuId: string; quantity: number; isOpen: boolean }[]
}

export type GoneAccounts = { accountId: string } | { customerId: string; has: readonly string[] }

/** A portion of what a feed brings. */
export interface Portion {
  rows?: { [K in RowKind]?: FeedRows[K][] }
  /** The identifiers of the records it stands for, also of those that were refused: to count them, and to find out what is gone. */
  seen?: { list: string; ids: readonly string[] }[]
  /**
   * A moment before it was asked for (`PullRequest.moment`), where what it says may be older than what is there: customers who have
   * changed since are left as they are, and asked for once more (`Feed.again`).
   */
  askedAfter?: string
  /** Why records could not be taken, in words, one entry a record. */
  refused?: readonly string[]
  /** Something was refused that `seen` does not name: what is not seen may be there all the same. */
  isUnclear?: boolean
  /** Reward accounts that there are no more: one by its identifier, or all of a customer but those that the customer has now. */
  goneAccounts?: readonly GoneAccounts[]
  /** What other feeds have to visit. */
  visits?: { feed: string; due: readonly Visit[] }[]
  /** A visit that is done with this portion, and when it was asked for. */
  visited?: Visit & { at: Date }
  end?: PullEnd
}

/** How a pull ended; its last portion has it. */
export interface PullEnd {
  /** From where the next pull goes on; absent: from where this one did. */
  since?: string
  /** How many records of a list there are at least: fewer of them seen is a fault. */
  total?: { list: string; atLeast: number }
  /** Nothing was asked for: the back office does not tell what changed, and it was not time for everything. */
  isIdle?: true
}

/** What a pull is asked for. */
export interface PullRequest {
  /** The mark that the last pull left; undefined: everything. */
  since: string | undefined
  settings: Settings
  /** Which of these the reference cache does not have. */
  unknownReferences(wanted: readonly ReferenceKey[]): Promise<ReferenceKey[]>
  openOrders(): Promise<OpenOrder[]>
  /** This moment, by our clock. */
  moment(): Promise<string>
  /** What this feed has to visit. */
  visits: AsyncIterable<Visit>
  signal: AbortSignal
}

/** Something that can be pulled from a back office. */
export interface Feed {
  name: string
  /** How often it is worth asking, in seconds. */
  everySeconds: number
  /** How often everything is read, in seconds, because changes alone may miss some; absent: each time. */
  fullEverySeconds?: number
  /** How long ago a change may be and still be asked for, in seconds; after a longer time everything is read. */
  reachSeconds?: number
  /** A pull of everything that ends well has shown every record of these lists: what it did not show is gone. */
  whole?: readonly WholeList[]
  /** Which records that it did not show are there all the same: each is asked for by itself. Absent: none. */
  thoseThere?(ids: readonly string[], signal: AbortSignal): Promise<string[]>
  /** These customers, each asked for by itself: what the pull has brought of them may be older than what is there. */
  again?(ids: readonly string[], request: PullRequest): AsyncIterable<Portion>
  /** It visits records one by one; a visit is repeated after so many seconds even if nothing is known to have changed. */
  revisitSeconds?: number
  pull(request: PullRequest): AsyncIterable<Portion>
}
