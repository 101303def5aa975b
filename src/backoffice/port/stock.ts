import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** A driver's read of the current stock. */
export interface StockReads {
  /**
   * Reads the current stock of these SKUs, by their IDs in the back office, and stores it. Throws `back_office_unavailable` if that takes
   * longer than a shopper can wait, and `capability_unavailable` if there is no other system to read from.
   */
  refreshStock(reading: { db: Database; service: Service }, skuIds: readonly string[]): Promise<void>
}
