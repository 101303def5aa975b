// Generated from the OpenAPI document by `npm run docs`.
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
  /** The changes of consent, oldest first. */
  consent: ConsentChange[]
  /** Newest first. */
  orders: Order[]
  returns: OrderReturn[]
  /** Newest first. */
  transactions: RetailTransaction[]
  rewardAccount: RewardAccount | null
  /** Vouchers that were sent to the customer's email address, sold with the customer's orders, or sent by a person with the customer's name and address. */
  vouchers: VoucherSale[]
  /** The imported data of the e-commerce platform (`ecommerce-customers`). */
  ecommerce: EcommerceCopy[]
  /** The mapping issues of the customer. */
  mappingIssues: MappingIssue[]
  /** The mapping fixes of the customer in the last 90 days, oldest first. */
  mappingFixes: MappingFix[]
}

export interface ConsentChange {
  /** When the consent changed. */
  at: string
  /** The channel. `marketing` is the inverse of `privacy`. */
  channel: Open<'marketing' | 'email' | 'sms'>
  /** The consent before the change. Null for a new customer. */
  oldValue: boolean | null
  /** The consent after the change. */
  newValue: boolean
  /** The account that changed it. */
  username: string
  /** The request that changed it. */
  requestId: string
}

export interface VoucherSale {
  /** The number of the voucher. */
  number: string
  /** The order that sold the voucher. */
  orderNumber: string | null
  /** The sender of the voucher. */
  senderName: string | null
  /** The receiver of the voucher. */
  receiverName: string | null
  /** The email address that the voucher was sent to. */
  receiverEmail: string | null
  /** The receiver's telephone number. */
  mobile: string | null
  /** The day on which the email is sent. */
  deliveryDate: string | null
  billingAddress: {
    /** The contact person. */
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
    /** The contact person. */
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
  /** When the voucher was sold. */
  createdAt: string
  /** The emails to the receiver, newest first. */
  emails: ReceiverEmail[]
}

export interface EcommerceCopy {
  /** The ID in the e-commerce platform. */
  ecommerceId: string
  /** The email address in the e-commerce platform. */
  email: string | null
}

export interface Erasure {
  /** The ID of the erased customer. It is not reused. */
  id: string
  /** `erasing`: personal data is still being removed from orders and sales. `erased`: the erasure has finished. */
  status: Open<'erased' | 'erasing'>
  /** When the customer was erased. */
  erasedAt: string
}
