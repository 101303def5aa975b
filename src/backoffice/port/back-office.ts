import type { Db } from '../../database/db.ts'
import type { Settings } from '../../domain/tenancy/service-settings.ts'
import type { CouponWrites } from './coupons.ts'
import type { CustomerWrites } from './customers.ts'
import type { HistoryReads, OrderReads, OrderWrites } from './orders.ts'
import type { QuoteReads } from './quotes.ts'
import type { RewardReads, RewardWrites } from './rewards.ts'
import type { StockReads } from './stock.ts'
import type { VoucherWrites } from './vouchers.ts'

/** A feature that a back office may have. */
export type CapabilityName =
  | 'stores'
  | 'inventory'
  | 'liveStock'
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
  | 'rewardRedemptions'
  | 'orders'
  | 'shipments'
  | 'fulfilment'
  | 'exchanges'
  | 'priceChanges'
  | 'coupons'
  | 'orderTaxes'
  | 'orderQuotes'
  | 'freightOptions'
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

export interface Capability {
  name: CapabilityName
  available: boolean
  /** The reason if it is not available. */
  reason?: string
}

export interface Capabilities {
  driver: string
  /** The release of the back office, for example `2022.1`. */
  release: string
  capabilities: Capability[]
}

/** The port: the operations that the API needs from a back office. Each driver implements it. */
export interface BackOffice
  extends CustomerWrites,
    OrderWrites,
    VoucherWrites,
    RewardReads,
    RewardWrites,
    HistoryReads,
    OrderReads,
    QuoteReads,
    StockReads,
    CouponWrites {
  /** Capabilities whose fields or records are missing from lists, with the reason. Known without a call. */
  readonly unsupportedFields: ReadonlyMap<CapabilityName, string>
  /** `included` if the source of the stock has taken units of unshipped orders off already. */
  readonly unshippedUnits: Settings['allocated']
  /** Returns the capabilities. Without a database, the records of the service are not checked. */
  capabilities(db?: Db): Promise<Capabilities>
}
