// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'
import type { Customer } from './customers.ts'
import type { Order } from './orders.ts'
import type { OrderReturn } from './returns.ts'
import type { RetailTransaction } from './transactions.ts'
import type { RewardAccount } from './rewards.ts'
import type { ReceiverEmail } from './vouchers.ts'
import type { MappingFix, MappingIssue } from './mappings.ts'

export interface PersonalData {
  customer: Customer | null
  /** What was agreed to, change by change, the oldest first. */
  consent: ConsentChange[]
  /** The newest first. */
  orders: Order[]
  returns: OrderReturn[]
  /** The newest first. */
  transactions: RetailTransaction[]
  rewardAccount: RewardAccount | null
  /** Vouchers that were sent to the customer's e-mail address, sold with an order of theirs, or sent by somebody of their name and address. */
  vouchers: VoucherSale[]
  /** What the e-commerce platform has told of them (`ecommerce-customers`). */
  ecommerce: EcommerceCopy[]
  /** The mapping issues of the customer. */
  mappingIssues: MappingIssue[]
  /** The mapping fixes of the customer in the last 90 days, oldest first. */
  mappingFixes: MappingFix[]
}

export interface ConsentChange {
  /** When it was said. */
  at: string
  /** What it is about; `marketing` is the inverse of `privacy`. */
  channel: Open<'marketing' | 'email' | 'sms'>
  /** The consent before the change. Null for a new customer. */
  oldValue: boolean | null
  /** The consent after the change. */
  newValue: boolean
  /** The account that wrote it. */
  username: string
  /** The request that wrote it. */
  requestId: string
}

export interface VoucherSale {
  /** The number of the voucher. */
  number: string
  /** The order that it was sold with. */
  orderNumber: string | null
  /** Who gives it. */
  senderName: string | null
  /** Who receives it. */
  receiverName: string | null
  /** The e-mail address it was sent to. */
  receiverEmail: string | null
  /** The receiver's telephone number. */
  mobile: string | null
  /** The day before which the receiver is told nothing. */
  deliveryDate: string | null
  billingAddress: {
    /** Who is to be asked for. */
    contactName?: string | null
    /** The company. */
    companyName?: string | null
    /** Street and number. */
    addressLine1?: string | null
    /** Floor, unit or building. */
    addressLine2?: string | null
    /** City or suburb. */
    city?: string | null
    /** State, province or county. */
    state?: string | null
    /** Post code. */
    postcode?: string | null
    /** Country. */
    country?: string | null
  } | {
    /** Who is to be asked for. */
    contactName?: string | null
    /** The company. */
    companyName?: string | null
    /** Street and number. */
    addressLine1?: string | null
    /** Floor, unit or building. */
    addressLine2?: string | null
    /** City or suburb. */
    city?: string | null
    /** State, province or county. */
    state?: string | null
    /** Post code. */
    postcode?: string | null
    /** Country. */
    country?: string | null
  }
  /** When it was sold. */
  createdAt: string
  /** Those to the receiver, the newest first. */
  emails: ReceiverEmail[]
}

export interface EcommerceCopy {
  /** The identifier there. */
  ecommerceId: string
  /** The e-mail address there. */
  email: string | null
}

export interface Erasure {
  /** The identifier, which is nobody's from now on. */
  id: string
  /** `erasing` while orders and sales are still being emptied of the person, then `erased`. */
  status: Open<'erased' | 'erasing'>
  /** When the customer left. */
  erasedAt: string
}
