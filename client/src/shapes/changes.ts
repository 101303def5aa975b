// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'
import type { Store } from './stores.ts'
import type { Customer } from './customers.ts'
import type { StaffMember } from './staff.ts'
import type { Product } from './products.ts'
import type { StockLevel } from './inventory.ts'
import type { RetailTransaction } from './transactions.ts'
import type { Order } from './orders.ts'
import type { OrderReturn } from './returns.ts'
import type { RewardAccount } from './rewards.ts'

export interface RecordChange {
  /** What the record is. */
  kind: Open<'store' | 'staff' | 'product' | 'inventory' | 'customer' | 'transaction' | 'order' | 'return' | 'reward-account'>
  /** Its identifier, as it shows it. */
  id: string
  /** Whether it has changed, or left the data. */
  action: Open<'changed' | 'removed'>
  /** When it did: the stamp of its newest change. */
  changedAt: string
  /** Where it can be read. Absent where it is removed. */
  path?: string
  /** As its path shows it, with `records=true`. */
  record?: Store | StaffMember | Product | StockLevel | Customer | RetailTransaction | Order | OrderReturn | RewardAccount
}
