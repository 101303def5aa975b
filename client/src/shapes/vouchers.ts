// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface VoucherOpening {
  /** The number printed on the voucher. */
  number: string
  /** The PIN, exactly as it was given to the shopper. */
  pin: string
}

export interface VoucherValidation {
  /** The number printed on the voucher. */
  number: string
  /** The PIN, exactly as it was given to the shopper. */
  pin: string
  /** What is to be paid with it. */
  amount: string
}

/** By a `validationId` that you have; or by the `pin`, which validates the voucher and holds it in one step. */
export interface VoucherLock {
  /** Opens the voucher for a lock or an order, until it is validated again or 24 hours have passed. */
  validationId?: string | undefined
  /** The PIN, exactly as it was given to the shopper. */
  pin?: string | undefined
  /** What is to be paid with it; with `pin` alone all that is left. */
  amount?: string | undefined
  /** For how long it is held, from now on; 0 gives it back. */
  lockSeconds?: number | undefined
}

export interface VoucherInput {
  /** What the voucher is worth. */
  amount: string
  /** The currency of the service, if any is named. */
  currency?: string | null | undefined
  /** How it was paid: one of `GET /payment-gateways`. The setting `voucherGateway` where none is named; without that none is recorded. */
  gateway?: string | null | undefined
  /** Who gets it. */
  receiverName: string
  /** Where number and PIN are sent. */
  receiverEmail: string
  /** Who gives it. */
  senderName: string
  /** What the sender says. */
  message?: string | null | undefined
  /** The e-mail's subject. */
  subject: string
  /** The number of the order that it is sold with; no two vouchers have the same. */
  orderNumber?: string | null | undefined
  /** The receiver's mobile number. */
  mobile?: string | null | undefined
  /** The day on which the e-mail is sent; today where none is named. */
  deliveryDate?: string | null | undefined
  /** The address of whoever pays. */
  billingAddress: {
    /** Who is to be asked for. */
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

export interface SendingAgain {
  /** Where it is sent from now on; absent: where it was sent before. */
  receiverEmail?: string | null | undefined
}

export interface ReadVoucher {
  /** The number printed on the voucher. */
  number: string
  /** Where the voucher stands. */
  status: Open<'pending' | 'active' | 'locked' | 'redeemed' | 'expired' | 'suspended'>
  /** ISO 4217. */
  currency: string
  /** The amount it was issued for. */
  originalAmount: string
  /** What was drawn. */
  usedAmount: string
  /** What can be drawn: nothing of a voucher that is expired or suspended. */
  availableAmount: string
  /** The last day on which it can be used. */
  expiryDate: string | null
  /** Until when somebody holds it. */
  lockedUntil: string | null
  email: VoucherEmail | null
  /** Opens the voucher for a lock or an order, until it is validated again or 24 hours have passed. */
  validationId?: string
}

/** The e-mail to the receiver. */
export interface VoucherEmail {
  /** How far the e-mail with number and PIN has come. */
  status: Open<'queued' | 'sent' | 'failed'>
}

export interface Voucher {
  /** The number printed on the voucher. */
  number: string
  /** Where the voucher stands. */
  status: Open<'pending' | 'active' | 'locked' | 'redeemed' | 'expired' | 'suspended'>
  /** ISO 4217. */
  currency: string
  /** The amount it was issued for. */
  originalAmount: string
  /** What was drawn. */
  usedAmount: string
  /** What can be drawn: nothing of a voucher that is expired or suspended. */
  availableAmount: string
  /** The last day on which it can be used. */
  expiryDate: string | null
  /** Until when somebody holds it. */
  lockedUntil: string | null
  email: VoucherEmail | null
}

export interface ValidatedVoucher {
  /** The number printed on the voucher. */
  number: string
  /** Where the voucher stands. */
  status: Open<'pending' | 'active' | 'locked' | 'redeemed' | 'expired' | 'suspended'>
  /** ISO 4217. */
  currency: string
  /** The amount it was issued for. */
  originalAmount: string
  /** What was drawn. */
  usedAmount: string
  /** What can be drawn: nothing of a voucher that is expired or suspended. */
  availableAmount: string
  /** The last day on which it can be used. */
  expiryDate: string | null
  /** Until when somebody holds it. */
  lockedUntil: string | null
  email: VoucherEmail | null
  /** Opens the voucher for a lock or an order, until it is validated again or 24 hours have passed. */
  validationId: string
}

export interface IssuedVoucher {
  /** The number of the voucher. */
  number: string | null
  /** Where the voucher stands. */
  status: Open<'pending' | 'active' | 'locked' | 'redeemed' | 'expired' | 'suspended'>
  /** ISO 4217. */
  currency: string
  /** The amount it was issued for. */
  originalAmount: string
  /** What was drawn. */
  usedAmount: string
  /** What can be drawn: nothing of a voucher that is expired or suspended. */
  availableAmount: string
  /** The last day on which it can be used. */
  expiryDate: string | null
  /** Until when somebody holds it. */
  lockedUntil: string | null
  email: VoucherEmail | null
  /** The PIN: in this answer and in the e-mail, and nowhere else. */
  pin: string | null
  /** The number of the order that it was sold with. */
  orderNumber: string | null
}

export interface VoucherLedger {
  voucher: Voucher
  /** Who has bought it, as far as it was issued here. */
  senderName: string | null
  /** Whom it is for. */
  receiverName: string | null
  /** Where number and PIN were sent. */
  receiverEmail: string | null
  /** Those to the receiver, the newest first. */
  emails: ReceiverEmail[]
  /** The oldest first. */
  steps: VoucherStep[]
}

export interface ReceiverEmail {
  /** The identifier of the e-mail. */
  id: string
  /** How far it has come. */
  status: Open<'queued' | 'sent' | 'failed'>
  /** When it was asked for. */
  queuedAt: string
  /** When it is tried next; null: not any more. */
  dueAt: string | null
  /** When a mail server took it; null: none has yet. */
  sentAt: string | null
  /** Whether what it says is kept: until it is sent, and for 30 days where it was given up. Then it goes out again as it was. */
  wordsKept: boolean
  /** How often it was tried. */
  attempts: number
  /** Why it was not taken the last time. */
  fault: string | null
}

export interface VoucherStep {
  /** When it was taken. */
  at: string
  /** What happened. */
  kind: Open<'issue' | 'activate' | 'lock' | 'unlock' | 'redeem' | 'refund' | 'expire' | 'suspend' | 'resume'>
  /** Below zero for what was drawn; zero for a step that moves no money. */
  amount: string
  /** Where the voucher stood then. */
  state: Open<'pending' | 'active' | 'locked' | 'redeemed' | 'expired' | 'suspended'>
  /** The account that held it from then on. */
  heldBy: string | null
  /** The order that drew on it, gave back, or that it was sold with. */
  orderNumber: string | null
}
