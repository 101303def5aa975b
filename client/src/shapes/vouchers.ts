// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface VoucherOpening {
  /** The number printed on the voucher. */
  number: string
  /** The PIN, exactly as the shopper received it. */
  pin: string
}

export interface VoucherValidation {
  /** The number printed on the voucher. */
  number: string
  /** The PIN, exactly as the shopper received it. */
  pin: string
  /** The amount to pay. */
  amount: string
}

/** Either a `validationId`, or the `pin`, which validates and locks in one step. */
export interface VoucherLock {
  /** Authorises a lock or an order. Valid until the next validation, at most 24 hours. */
  validationId?: string | undefined
  /** The PIN, exactly as the shopper received it. */
  pin?: string | undefined
  /** The amount to pay: the balance must cover it. The lock holds the whole voucher. Default: the available amount. Requires `pin`. */
  amount?: string | undefined
  /** The duration of the lock in seconds, starting now. 0 unlocks. */
  lockSeconds?: number | undefined
}

export interface VoucherInput {
  /** The amount of the voucher. */
  amount: string
  /** The currency. If it is sent, it must be the currency of the service. */
  currency?: string | null | undefined
  /** A name from `GET /payment-gateways`. Default: the setting `voucherGateway`. Without both, no gateway is recorded. */
  gateway?: string | null | undefined
  /** The name of the receiver. */
  receiverName: string
  /** The address that number and PIN are sent to. */
  receiverEmail: string
  /** The name of the sender. */
  senderName: string
  /** The message of the sender. */
  message?: string | null | undefined
  /** The subject of the email. */
  subject: string
  /** The number of the order that sells the voucher. It must be unique. */
  orderNumber?: string | null | undefined
  /** The receiver's mobile number: 3 to 20 digits, with spaces, `+`, `-`, `(`, `)`, `.` and `/` between them. Typographic spaces and hyphens are stored as plain ones. */
  mobile?: string | null | undefined
  /** The day on which the email is sent. Default: today. */
  deliveryDate?: string | null | undefined
  /** The address of the payer. */
  billingAddress: {
    /** The contact person. */
    contactName?: string | null | undefined
    /** The company. */
    companyName?: string | null | undefined
    /** Street and number. */
    addressLine1?: string | null | undefined
    /** Floor, unit or building. */
    addressLine2?: string | null | undefined
    /** City or suburb. */
    city?: string | null | undefined
    /** State, province or county. */
    state?: string | null | undefined
    /** Post code. */
    postcode?: string | null | undefined
    /** Country. */
    country?: string | null | undefined
  }
}

export interface VoucherResend {
  /** The new address of the receiver. Default: the current address. */
  receiverEmail?: string | null | undefined
}

export interface ReadVoucher extends Voucher {
  /** Authorises a lock or an order. Valid until the next validation, at most 24 hours. */
  validationId?: string
}

export interface Voucher {
  /** The number printed on the voucher. */
  number: string
  /** The state of the voucher. */
  status: Open<'pending' | 'active' | 'locked' | 'redeemed' | 'expired' | 'suspended'>
  /** ISO 4217. */
  currency: string
  /** The amount it was issued for. */
  originalAmount: string
  /** The amount that was redeemed. */
  usedAmount: string
  /** The amount that can be redeemed. Zero if the voucher is expired or suspended. */
  availableAmount: string
  /** The last day on which it can be used. */
  expiryDate: string | null
  /** When the lock expires. Null if the voucher is not locked. */
  lockedUntil: string | null
  email: VoucherEmail | null
}

/** The email to the receiver. */
export interface VoucherEmail {
  /** The state of the email with number and PIN. */
  status: Open<'queued' | 'sent' | 'failed'>
}

export interface ValidatedVoucher extends Voucher {
  /** Authorises a lock or an order. Valid until the next validation, at most 24 hours. */
  validationId: string
}

export interface IssuedVoucher {
  /** The number of the voucher. */
  number: string | null
  /** The state of the voucher. */
  status: Open<'pending' | 'active' | 'locked' | 'redeemed' | 'expired' | 'suspended'>
  /** ISO 4217. */
  currency: string
  /** The amount it was issued for. */
  originalAmount: string
  /** The amount that was redeemed. */
  usedAmount: string
  /** The amount that can be redeemed. Zero if the voucher is expired or suspended. */
  availableAmount: string
  /** The last day on which it can be used. */
  expiryDate: string | null
  /** When the lock expires. Null if the voucher is not locked. */
  lockedUntil: string | null
  email: VoucherEmail | null
  /** The PIN. It is only in this response and in the email. */
  pin: string | null
  /** The number of the order that sold the voucher. */
  orderNumber: string | null
}

export interface VoucherLedger {
  voucher: Voucher
  /** The buyer, if Tillbridge issued the voucher. */
  senderName: string | null
  /** The receiver. */
  receiverName: string | null
  /** The address that number and PIN were sent to. */
  receiverEmail: string | null
  /** The emails to the receiver, newest first. */
  emails: ReceiverEmail[]
  /** The ledger, oldest entry first. */
  entries: VoucherLedgerEntry[]
}

export interface ReceiverEmail {
  /** The ID of the email. */
  id: string
  /** The state of the email. */
  status: Open<'queued' | 'sent' | 'failed'>
  /** When the email was queued. */
  queuedAt: string
  /** The next attempt. Null if no attempt is due. */
  dueAt: string | null
  /** When a mail server accepted the email. Null if none has. */
  sentAt: string | null
  /** True if the content is still stored: until the email is sent, or for 30 days after it was abandoned. If true, a resend sends the same content. Otherwise a resend issues a new PIN. */
  isContentStored: boolean
  /** The number of attempts. */
  attempts: number
  /** The error of the last attempt. */
  lastError: string | null
}

export interface VoucherLedgerEntry {
  /** The time of the entry. */
  at: string
  /** The kind of entry. */
  kind: Open<'issue' | 'activate' | 'lock' | 'unlock' | 'redeem' | 'load' | 'refund' | 'expire' | 'suspend' | 'resume'>
  /** Negative for a redemption. Zero for an entry that moves no money. */
  amount: string
  /** The state of the voucher after the entry. */
  state: Open<'pending' | 'active' | 'locked' | 'redeemed' | 'expired' | 'suspended'>
  /** The account that locked the voucher. */
  lockedBy: string | null
  /** The account of the write. Null: an import, or an expiry. */
  username: string | null
  /** The API key of the write. */
  apiKey: string | null
  /** The order that redeemed, refunded or sold the voucher. */
  orderNumber: string | null
}
