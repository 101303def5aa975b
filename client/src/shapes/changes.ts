// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'
import type { Store } from './stores.ts'
import type { Order } from './orders.ts'
import type { StaffMember } from './staff.ts'
import type { Product } from './products.ts'
import type { Customer } from './customers.ts'
import type { StockLevel } from './inventory.ts'
import type { RetailTransaction } from './transactions.ts'
import type { OrderReturn } from './returns.ts'
import type { RewardAccount } from './rewards.ts'

export interface RecordChange extends DeliveredChange {
  /** The record, as its path returns it. Only with `records=true`. */
  record?: Store | StaffMember | Product | StockLevel | Customer | RetailTransaction | Order | OrderReturn | RewardAccount
}

export interface DeliveredChange {
  /** The kind of record. */
  kind: Open<'store' | 'staff' | 'product' | 'inventory' | 'customer' | 'transaction' | 'order' | 'return' | 'shipment' | 'reward-account'>
  /** The ID of the record. */
  id: string
  /** `changed` includes created. `removed`: the record no longer exists. */
  action: Open<'changed' | 'removed'>
  /** The time of the latest change of the record. */
  changedAt: string
  /** The path of the record. Absent if it was removed. */
  path?: string
}
