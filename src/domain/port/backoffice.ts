import type { Db } from '../../db.ts'
import type { CustomerWrites } from '../customers/input.ts'
import type { OrderWrites } from '../orders/orders.ts'
import type { HistoryReads } from '../orders/transactions.ts'
import type { RewardReads } from '../rewards/rewards.ts'
import type { VoucherWrites } from '../vouchers/vouchers.ts'

/** Something that may or may not be possible with a back office, and if not, why. */
export interface Capability {
  name: string
  available: boolean
  reason?: string
}

export interface Capabilities {
  driver: string
  /** The release the back office answers as, e.g. `2022.1`. */
  release: string
  capabilities: Capability[]
}

/** What the API needs a retail back office to do. A driver is one object of this shape. */
export interface BackOffice extends CustomerWrites, OrderWrites, VoucherWrites, RewardReads, HistoryReads {
  /** What lists lack because this back office does not tell it, by the names of capabilities. Nobody is asked. */
  readonly untold: ReadonlyMap<string, string>
  /** Without a database what depends on the records of the service is not looked at. */
  capabilities(db?: Db): Promise<Capabilities>
}
