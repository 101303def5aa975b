/* The stock of a platform as the push and the reconciliation need it. */

/** The quantities of one item at one location. */
export interface ObservedLevel {
  itemId: string
  locationId: string
  onHand: number
  /** Units that are sold and not yet fulfilled. */
  committed: number
  /** Units on hand that the platform doesn't sell: reserved, damaged, quality control, safety stock. */
  heldBack: number
}

/** The units of one line of an order that are committed at a location. */
interface CommittedLine {
  lineId: string
  itemId: string
  locationId: string
  units: number
}

/** The open committed units of an order. */
export interface OrderCommitments {
  orderId: string
  lines: readonly CommittedLine[]
}

interface LevelKey {
  itemId: string
  locationId: string
}

/** The app or the staff member that has changed a level, as the platform names them. */
interface LevelAuthor extends LevelKey {
  changedBy: string
}

/** A quantity to set. `expectedOnHand`: the change isn't made if the platform's quantity differs. */
export interface OnHandChange extends LevelKey {
  expectedOnHand: number
  onHand: number
}

/** An item to stock at a location, with its first quantity. */
export interface LevelActivation extends LevelKey {
  onHand: number
}

export type OnHandResult =
  /** `notApplied`: another row of the batch was rejected. `stale`: the quantity on the platform is another one, or not known. */
  | { state: 'applied' | 'notApplied' | 'stale' }
  /** The platform doesn't accept a quantity for this level. `reason` is its code. */
  | { state: 'rejected'; reason: string }

/** The permission for one call that sets quantities, as far as the platform limits calls. */
export interface CallPermit {
  /** Returns the permission. Does nothing after the call. */
  release(): Promise<void>
}

export interface InventoryPort {
  /** The maximum number of changes of one call, and of items and orders of one read. */
  readonly limits: { changes: number; items: number; orders: number }
  /** True if a lost call can be sent again under its key. False: its levels are read, and their quantities are computed again. */
  readonly hasIdempotencyKeys: boolean
  /** Reads all levels that are stocked. Never returns a list that was cut off. */
  readAllLevels(signal: AbortSignal): AsyncIterable<ObservedLevel>
  /** Reads the stocked levels of these items, at most `limits.items`. A level that is missing from the result isn't stocked. */
  readLevels(itemIds: readonly string[], signal: AbortSignal): Promise<readonly ObservedLevel[]>
  /** Returns who has last changed these levels since an instant, as far as the platform says. Our own changes don't count. */
  readAuthors(levels: readonly LevelKey[], since: string, signal: AbortSignal): Promise<readonly LevelAuthor[]>
  /** Reads the open committed units of these orders by ID, at most `limits.orders`. An order that is missing doesn't exist any more. */
  readCommitments(orderIds: readonly string[], signal: AbortSignal): Promise<readonly OrderCommitments[]>
  /**
   * Waits until `setOnHand` or `activateLevel` can be called. Reserve before the last read, so that nothing waits between that read and the
   * call.
   */
  reserveCall(signal: AbortSignal): Promise<CallPermit>
  /**
   * Sets quantities and returns one result per change, in the same order. The same key and changes can be sent again after a lost response
   * if the platform has idempotency keys. Throws `PlatformFailure` if the outcome is unknown.
   */
  setOnHand(
    permit: CallPermit,
    key: string,
    changes: readonly OnHandChange[],
    signal: AbortSignal,
  ): Promise<readonly OnHandResult[]>
  /** Stocks an item at a location. Like `setOnHand`. */
  activateLevel(
    permit: CallPermit,
    key: string,
    activation: LevelActivation,
    signal: AbortSignal,
  ): Promise<OnHandResult>
}
