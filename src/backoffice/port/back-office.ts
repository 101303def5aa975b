import type { Db } from '../../database/db.ts'
import type { CustomerWrites } from './customers.ts'
import type { HistoryReads, OrderReads, OrderWrites } from './orders.ts'
import type { RewardReads } from './rewards.ts'
import type { VoucherWrites } from './vouchers.ts'

/** What may be possible with a back office. */
export type CapabilityName =
  | 'stores'
  | 'inventory'
  | 'products'
  | 'staff'
  | 'customers'
  | 'customersUpdatedAfter'
  | 'customerWrites'
  | 'customerErasure'
  | 'returnStatus'
  | 'customerTransactions'
  | 'signUpStore'
  | 'emailSubscriptionMapping'
  | 'smsSubscriptionMapping'
  | 'rewards'
  | 'orders'
  | 'transactions'
  | 'returns'
  | 'paymentGateways'
  | 'paymentGatewayList'
  | 'gatewayMerchants'
  | 'vouchers'
  | 'vouchersIssue'
  | 'voucherNumberAtSale'
  | 'voucherDeliveryDate'
  | 'emailSender'

/** Whether something is possible with a back office, and if not, why. */
export interface Capability {
  name: CapabilityName
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
export interface BackOffice extends CustomerWrites, OrderWrites, VoucherWrites, RewardReads, HistoryReads, OrderReads {
  /** What lists lack because this back office does not tell it. Nobody is asked. */
  readonly unsupportedFields: ReadonlyMap<CapabilityName, string>
  /** Without a database what depends on the records of the service is not looked at. */
  capabilities(db?: Db): Promise<Capabilities>
}
