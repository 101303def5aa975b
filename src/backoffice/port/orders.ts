import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { ExchangeInput } from '../../domain/orders/exchanges.ts'
import type { CancellationInput, OrderInput, OrderName } from '../../domain/orders/orders.ts'
import type { ReturnInput, ReturnReason, ReturnReceipt } from '../../domain/orders/returns.ts'
import type { ShipmentInput } from '../../domain/orders/shipments.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { CommitPhase, Write } from '../../writes/write.ts'

/** The freshness of a customer's stored history. */
interface HistoryFreshness {
  /** When the history was last synced (RFC 3339). Undefined if unknown. */
  syncedAt: string | undefined
  /** Why the history can be outdated. */
  warning?: { code: string; detail: string }
}

/** A record after a write, as JSON. */
export interface WrittenRecord {
  id: string
  record: string
}

/** A driver's writes to orders and returns, and its look-up of orders. */
export interface OrderWrites {
  placeOrder(write: Write, input: OrderInput): Promise<CommitPhase<WrittenRecord>>
  /** `order`: the ID or else the number. Throws `not_found` if the service has no such order. */
  createReturn(write: Write, order: string, input: ReturnInput): Promise<CommitPhase<WrittenRecord>>
  /** Creates a return of an order and a new order that it pays for. Throws `capability_unavailable` if that takes more than one commit. */
  createExchange(write: Write, order: string, input: ExchangeInput): Promise<CommitPhase<WrittenRecord>>
  /** Ships open units of an order. This and the next five throw `capability_unavailable` if the back office alone fulfils orders. */
  createShipment(write: Write, order: string, input: ShipmentInput): Promise<CommitPhase<WrittenRecord>>
  /** Cancels lines of an order. The record has the order and the refund. */
  createCancellation(write: Write, order: string, input: CancellationInput): Promise<CommitPhase<WrittenRecord>>
  /** Marks an order as ready for collection, or as collected. The record is the order. */
  markReady(write: Write, order: string): Promise<CommitPhase<WrittenRecord>>
  markCollected(write: Write, order: string): Promise<CommitPhase<WrittenRecord>>
  /** Marks a return, by its ID, as received. */
  receiveReturn(write: Write, id: string, input: ReturnReceipt): Promise<CommitPhase<WrittenRecord>>
  /** Refunds a received return. The record has the return and the refund. */
  refundReturn(write: Write, id: string): Promise<CommitPhase<WrittenRecord>>
  /** Returns the return reasons of the service that the back office accepts. */
  returnReasons(service: Service): Promise<ReturnReason[]>
  /**
   * Returns the ID of an order in our tables, or undefined if it does not exist. Stores an order that only the back office has. If a
   * value matches both an ID and a number, the ID wins.
   */
  findOrder(reading: { db: Database; keys: Keys; service: Service }, name: OrderName): Promise<string | undefined>
}

/** A driver's reads of one customer's orders. */
export interface OrderReads {
  /** Refreshes the stored orders within the time that a caller can wait. Returns undefined if they are always current. */
  refreshOrders(
    reading: { db: Database; keys: Keys; service: Service },
    customerId: string,
  ): Promise<HistoryFreshness | undefined>
}

/** A driver's reads of one customer's retail history. */
export interface HistoryReads {
  /** Refreshes the stored history within the time that a caller can wait. Returns undefined if it is always current. */
  refreshHistory(reading: { db: Database; service: Service }, customerId: string): Promise<HistoryFreshness | undefined>
}
