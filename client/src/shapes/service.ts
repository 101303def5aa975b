// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface SettingsChange {
  /** The name of the retailer that shoppers see. */
  retailerName?: string | null | undefined
  /** The IANA time zone of all local times. */
  timeZone?: string | null | undefined
  /** The currency of all amounts (ISO 4217). */
  currency?: string | null | undefined
  /** The inventory buffer of the service: units of each SKU that are not sold online, unless the SKU at the store or the store has its own buffer. */
  inventoryBuffer?: number | null | undefined
  fulfilment?: 'automatic' | 'manual' | null | undefined
  allocated?: 'excluded' | 'included' | null | undefined
  oversell?: 'allow' | 'refuse' | null | undefined
  /** The return reasons (`GET /return-reasons`). */
  returnReasons?: {
    /** The code that a return uses. */
    code: string
    /** The name that shoppers read. */
    name: string
  }[] | null | undefined
  /** The reason of a return line without `reasonCode`: a code of `returnReasons`. */
  defaultReturnReason?: string | null | undefined
  /** The gift voucher function. True if vouchers can be issued. */
  vouchersEnabled?: boolean | null | undefined
  /** The gift card SKU index: the SKU that vouchers are sold as. */
  giftCardSku?: string | null | undefined
  /** The type of new vouchers. */
  voucherType?: string | null | undefined
  /** The validity of new vouchers, in months. */
  voucherValidityMonths?: number | null | undefined
  /** The payment gateway of a voucher without `gateway`: one of `gateways`. If it is not set, no gateway is recorded. */
  voucherGateway?: string | null | undefined
  /** True if vouchers can only be redeemed in full. */
  requireFullRedemption?: boolean | null | undefined
  /** The sender address of emails to shoppers. */
  emailSender?: string | null | undefined
  /** The retailer's logo in emails to shoppers: the HTTPS URL of an image, 40 pixels high. Without it, emails show `retailerName`. */
  logoUrl?: string | null | undefined
  /** The retailer's colour in emails to shoppers. */
  brandColour?: string | null | undefined
  /** The HTTPS URL of the shop. Emails to shoppers link to it, and name it as the place to check the balance of a voucher. */
  shopUrl?: string | null | undefined
  /** The address in emails to shoppers for their questions. */
  supportEmail?: string | null | undefined
  /** The recipient of alert emails. */
  alertEmail?: string | null | undefined
  /** The customer reference of each subscription: its type, and the values for yes and no. Without a mapping, Tillbridge stores the flag itself. */
  subscriptionMapping?: {
    /** Emails. */
    email?: {
      /** The type of the reference. */
      type: string
      /** The value for yes. */
      yes: string
      /** The value for no. */
      no: string
    } | undefined
    /** Text messages. */
    sms?: {
      /** The type of the reference. */
      type: string
      /** The value for yes. */
      yes: string
      /** The value for no. */
      no: string
    } | undefined
  } | {
    /** Emails. */
    email?: {
      /** The type of the reference. */
      type: string
      /** The value for yes. */
      yes: string
      /** The value for no. */
      no: string
    } | undefined
    /** Text messages. */
    sms?: {
      /** The type of the reference. */
      type: string
      /** The value for yes. */
      yes: string
      /** The value for no. */
      no: string
    } | undefined
  } | undefined
  /** The reference types that customers can have. Empty: any type in the reference cache. */
  referenceTypes?: string[] | null | undefined
  /** The version that the embedded back office reports. Features that need a later version are unavailable. */
  backOfficeVersion?: string | null | undefined
  /** True if PUT requires `If-Match`. */
  requireIfMatch?: boolean | null | undefined
  /** True if writes that accept `Idempotency-Key` require it. */
  requireIdempotencyKey?: boolean | null | undefined
  /** Days for which the change feed reports removed records. Older cursors of the change feed expire. */
  tombstoneRetentionDays?: number | null | undefined
  /** Days for which requests stay in the request log (`GET /requests`). 0 turns the log off. */
  requestLogRetentionDays?: number | null | undefined
  readsPerMinute?: number | 'off' | null | undefined
  writesPerMinute?: number | 'off' | null | undefined
  /** The payment gateways that orders and gift vouchers can use (`GET /payment-gateways`). */
  gateways?: string[] | null | undefined
  /** True confirms a change of `currency` of a service that has amounts: they are not converted. It is not a setting. */
  confirmCurrencyChange?: boolean | undefined
}

export interface Health {
  /** The worst level of the problems. `ok`: nothing needs attention. */
  level: Open<'ok' | 'degraded' | 'critical'>
  /** The problems, worst first. */
  problems: HealthProblem[]
  /** Newest backup of the database. Null: none, or you are not an admin. */
  lastBackupAt: string | null
}

export interface HealthProblem {
  /** `degraded`: works, but incompletely. `critical`: an operator must act. */
  level: Open<'degraded' | 'critical'>
  /** `back_office_unavailable`, `sync_unhealthy`, `import_unhealthy`, `webhook_unhealthy`, `webhook_paused`, or the kind of an alert. */
  kind: string
  /** The affected sync, webhook or subject of the alert. Empty if it is the service. */
  subject: string
  /** The problem, for people. */
  title: string
  /** More about it. */
  detail: string | null
  /** The alert about the problem, if there is one (see `GET /alerts`). */
  alert: string | null
  /** When the problem began. For a sync without an alert, the end of its last run. Null if unknown. */
  since: string | null
}

export interface Capabilities {
  backOffice: BackOfficeRelease
  capabilities: Capability[]
  /** The syncs from the back office with their lag. Absent if the back office needs none. */
  sync?: SyncSummary[]
}

export interface BackOfficeRelease {
  /** The driver of the back office. */
  driver: string
  /** The version of the back office. */
  release: string
}

export interface Capability {
  name: string
  available: boolean
  /** The reason, if it is not available. */
  reason?: string
}

export interface SyncSummary {
  /** The name of the sync. */
  sync: string
  /** When the sync was last completed. Null if it never was. */
  syncedAt: string | null
  /** The seconds since then. */
  lagSeconds: number | null
  /** The result of the last run. `running`: a run is in progress. `none`: no run yet. */
  lastResult: Open<'ok' | 'failed' | 'running' | 'none'>
  /** The next scheduled run. Null if the sync has no schedule. */
  nextRunAt: string | null
}

export interface Settings {
  /** The name of the retailer that shoppers see. */
  retailerName: string
  /** The IANA time zone of all local times. */
  timeZone: string
  /** The currency of all amounts (ISO 4217). */
  currency: string
  /** The inventory buffer of the service: units of each SKU that are not sold online, unless the SKU at the store or the store has its own buffer. */
  inventoryBuffer: number
  /** `automatic`: the embedded back office ships an order when it is placed. `manual`: `tillbridge order ship` does. */
  fulfilment: Open<'automatic' | 'manual'>
  /** If stock files have units of unshipped orders taken off already (`included`). `excluded`: files don't know web orders, so the units are subtracted from `sellable` until they are shipped. With Apparel21, always `included`. */
  allocated: Open<'excluded' | 'included'>
  /** `refuse`: an order beyond the units that can be sold is rejected (`insufficient_stock`), unless the SKU has `allowBackorder`. `allow`: it is accepted, and the stock can fall below 0. */
  oversell: Open<'allow' | 'refuse'>
  /** The return reasons (`GET /return-reasons`). Default: `[{"code":"SIZE","name":"Wrong size"},{"code":"FAULTY","name":"Faulty"},{"code":"WRONG","name":"Not what was ordered"},{"code":"MIND","name":"Changed my mind"}]`. */
  returnReasons: {
    /** The code that a return uses. */
    code: string
    /** The name that shoppers read. */
    name: string
  }[]
  /** The reason of a return line without `reasonCode`: a code of `returnReasons`. */
  defaultReturnReason: string | null
  /** The gift voucher function. True if vouchers can be issued. */
  vouchersEnabled: boolean
  /** The gift card SKU index: the SKU that vouchers are sold as. */
  giftCardSku: string | null
  /** The type of new vouchers. */
  voucherType: string | null
  /** The validity of new vouchers, in months. */
  voucherValidityMonths: number
  /** The payment gateway of a voucher without `gateway`: one of `gateways`. If it is not set, no gateway is recorded. */
  voucherGateway: string | null
  /** True if vouchers can only be redeemed in full. */
  requireFullRedemption: boolean
  /** The sender address of emails to shoppers. */
  emailSender: string | null
  /** The retailer's logo in emails to shoppers: the HTTPS URL of an image, 40 pixels high. Without it, emails show `retailerName`. */
  logoUrl: string | null
  /** The retailer's colour in emails to shoppers. */
  brandColour: string
  /** The HTTPS URL of the shop. Emails to shoppers link to it, and name it as the place to check the balance of a voucher. */
  shopUrl: string | null
  /** The address in emails to shoppers for their questions. */
  supportEmail: string | null
  /** The recipient of alert emails. */
  alertEmail: string | null
  /** The customer reference of each subscription: its type, and the values for yes and no. Without a mapping, Tillbridge stores the flag itself. */
  subscriptionMapping: {
    /** Emails. */
    email?: {
      /** The type of the reference. */
      type: string
      /** The value for yes. */
      yes: string
      /** The value for no. */
      no: string
    }
    /** Text messages. */
    sms?: {
      /** The type of the reference. */
      type: string
      /** The value for yes. */
      yes: string
      /** The value for no. */
      no: string
    }
  }
  /** The reference types that customers can have. Empty: any type in the reference cache. Default: `[]`. */
  referenceTypes: string[]
  /** The version that the embedded back office reports. Features that need a later version are unavailable. */
  backOfficeVersion: string
  /** True if PUT requires `If-Match`. */
  requireIfMatch: boolean
  /** True if writes that accept `Idempotency-Key` require it. */
  requireIdempotencyKey: boolean
  /** Days for which the change feed reports removed records. Older cursors of the change feed expire. */
  tombstoneRetentionDays: number
  /** Days for which requests stay in the request log (`GET /requests`). 0 turns the log off. */
  requestLogRetentionDays: number
  /** Reads per account and minute, or `off`. Counted per process. */
  readsPerMinute: number | 'off'
  /** Writes per account and minute, or `off`. Counted per process. */
  writesPerMinute: number | 'off'
  /** The payment gateways that orders and gift vouchers can use (`GET /payment-gateways`). Default: `[]`. */
  gateways: string[]
}
