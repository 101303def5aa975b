// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface SettingsChange {
  /** The name shoppers know the retailer by. */
  retailerName?: string | null | undefined
  /** The time zone of all wall-clock times, as the IANA names it. */
  timeZone?: string | null | undefined
  /** The currency of all amounts (ISO 4217). */
  currency?: string | null | undefined
  /** Units of each SKU held back from sale where neither the SKU at the store nor the store says otherwise. */
  inventoryBuffer?: number | null | undefined
  shipOrders?: 'immediately' | 'manually' | null | undefined
  /** Why something may be returned (`GET /return-reasons`). */
  returnReasons?: {
    /** What a return names. */
    code: string
    /** What a shopper reads. */
    name: string
  }[] | null | undefined
  /** The reason of a returned line that names none: a code of `returnReasons`. */
  defaultReturnReason?: string | null | undefined
  /** Whether gift vouchers can be made: the gift voucher function. */
  vouchersEnabled?: boolean | null | undefined
  /** The SKU that gift vouchers are sold as: the gift card SKU index. */
  giftCardSku?: string | null | undefined
  /** The type of voucher that is made. */
  voucherType?: string | null | undefined
  /** How many months a new voucher can be used. */
  voucherValidityMonths?: number | null | undefined
  /** The payment gateway of a gift voucher that names none: one of `gateways`. Without it none is recorded. */
  voucherGateway?: string | null | undefined
  /** Whether a voucher can only be used in full. */
  voucherInFull?: boolean | null | undefined
  /** The address that e-mails to shoppers come from. */
  mailSender?: string | null | undefined
  /** The address that is told of what somebody has to look at: an endpoint of a webhook that takes nothing. */
  alertEmail?: string | null | undefined
  /** Which customer reference stands for a subscription, and with which values: type, value for yes, value for no. Without one the flag is kept by the service alone. */
  subscriptionMapping?: {
    /** E-mails. */
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
    /** E-mails. */
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
  /** The types of reference that a customer may be given. None named: any type that the reference cache knows. */
  referenceTypes?: string[] | null | undefined
  /** The release the embedded back office answers as: what needs a later one is unavailable (contract 4). */
  release?: string | null | undefined
  /** Whether every PUT of a record has to name the state it changes in `If-Match`. */
  requireIfMatch?: boolean | null | undefined
  /** Whether every write that takes an `Idempotency-Key` has to have one. */
  requireIdempotencyKey?: boolean | null | undefined
  /** How many days it is remembered what has left the data. Who follows changes, and was away for longer, begins anew. */
  removalsKeptDays?: number | null | undefined
  /** How many days requests are kept in the log of requests (`GET /requests`); 0: none is. */
  requestsKeptDays?: number | null | undefined
  readsPerMinute?: number | 'off' | null | undefined
  writesPerMinute?: number | 'off' | null | undefined
  /** The payment gateways that may be named in orders and gift vouchers (`GET /payment-gateways`). */
  gateways?: string[] | null | undefined
}

export interface Capabilities {
  backOffice: BackOfficeRelease
  capabilities: Capability[]
  /** What is pulled from the back office, and how fresh it is. Absent where nothing has to be. */
  sync?: SyncedFeed[]
}

export interface BackOfficeRelease {
  /** What kind of back office it is. */
  driver: string
  /** The release it answers as. */
  release: string
}

export interface Capability {
  name: string
  available: boolean
  /** Why it is not. */
  reason?: string
}

export interface SyncedFeed {
  /** What is pulled. */
  feed: string
  /** When it was last pulled to its end; null: never yet. */
  syncedAt: string | null
  /** How long ago that is. */
  lagSeconds: number | null
  /** How the last run went; `running` while one is under way, `none` before the first. */
  lastResult: Open<'ok' | 'failed' | 'running' | 'none'>
  /** When it is pulled next; null: not by itself. */
  nextAt: string | null
}

export interface Settings {
  /** The name shoppers know the retailer by. */
  retailerName: string
  /** The time zone of all wall-clock times, as the IANA names it. */
  timeZone: string
  /** The currency of all amounts (ISO 4217). */
  currency: string
  /** Units of each SKU held back from sale where neither the SKU at the store nor the store says otherwise. */
  inventoryBuffer: number
  /** Whether the embedded back office ships an order in the moment it is placed, or when `tillbridge order ship` says so. */
  shipOrders: Open<'immediately' | 'manually'>
  /** Why something may be returned (`GET /return-reasons`). */
  returnReasons: {
    /** What a return names. */
    code: string
    /** What a shopper reads. */
    name: string
  }[]
  /** The reason of a returned line that names none: a code of `returnReasons`. */
  defaultReturnReason: string | null
  /** Whether gift vouchers can be made: the gift voucher function. */
  vouchersEnabled: boolean
  /** The SKU that gift vouchers are sold as: the gift card SKU index. */
  giftCardSku: string | null
  /** The type of voucher that is made. */
  voucherType: string | null
  /** How many months a new voucher can be used. */
  voucherValidityMonths: number
  /** The payment gateway of a gift voucher that names none: one of `gateways`. Without it none is recorded. */
  voucherGateway: string | null
  /** Whether a voucher can only be used in full. */
  voucherInFull: boolean
  /** The address that e-mails to shoppers come from. */
  mailSender: string | null
  /** The address that is told of what somebody has to look at: an endpoint of a webhook that takes nothing. */
  alertEmail: string | null
  /** Which customer reference stands for a subscription, and with which values: type, value for yes, value for no. Without one the flag is kept by the service alone. */
  subscriptionMapping: {
    /** E-mails. */
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
  /** The types of reference that a customer may be given. None named: any type that the reference cache knows. */
  referenceTypes: string[]
  /** The release the embedded back office answers as: what needs a later one is unavailable (contract 4). */
  release: string
  /** Whether every PUT of a record has to name the state it changes in `If-Match`. */
  requireIfMatch: boolean
  /** Whether every write that takes an `Idempotency-Key` has to have one. */
  requireIdempotencyKey: boolean
  /** How many days it is remembered what has left the data. Who follows changes, and was away for longer, begins anew. */
  removalsKeptDays: number
  /** How many days requests are kept in the log of requests (`GET /requests`); 0: none is. */
  requestsKeptDays: number
  /** Reads an account may make in a minute, or `off`. */
  readsPerMinute: number | 'off'
  /** Writes an account may make in a minute, or `off`. */
  writesPerMinute: number | 'off'
  /** The payment gateways that may be named in orders and gift vouchers (`GET /payment-gateways`). */
  gateways: string[]
}
