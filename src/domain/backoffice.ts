import type { Db } from '../db.ts'
import type { CustomerWrites } from './customer-input.ts'
import type { OrderWrites } from './orders.ts'
import type { RewardReads } from './rewards.ts'
import type { VoucherWrites } from './vouchers.ts'

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

/** What a service has that some capabilities hang on. */
export interface Configured {
  /** The names of its payment gateways. */
  gateways: readonly string[]
  /** Whether the SKU is known that gift vouchers are sold as, where one is set. */
  hasGiftCard: boolean
}

/** What the API needs a retail back office to do. A driver is one object of this shape. */
export interface BackOffice extends CustomerWrites, OrderWrites, VoucherWrites, RewardReads {
  /** Without a database what hangs on the records of the service is not looked at. */
  capabilities(db?: Db): Promise<Capabilities>
}

/** Since when the back office can say which customers have changed (contract 4). */
export const customersByChangeSince = '2022.1'
