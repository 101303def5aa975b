import type { Wall } from './clock.ts'
import type { Address, Contacts } from './records.ts'

/** The status of an order line. Only lines of returns can be `Completed`. */
export type LineStatus = 'Processing' | 'Shipped' | 'Cancelled' | 'Returned' | 'Completed'

export interface LineDiscount {
  typeId: number
  reasonId: string
  promoId: string
  loyaltyId: string
  description: string
  value: number
}

/** The voucher that an order line buys. */
export interface VoucherSale {
  type: string
  /** The number of a physical card that the sale activates. Otherwise a number is allotted later. */
  number: string
  subject: string
  email: string
  message: string
  deliveryDate: string
  /** The number of the resulting voucher. Empty until it is allotted. */
  allotted: string
}

export interface OrderLine {
  id: number
  sequence: number
  skuId: number
  quantity: number
  price: number
  value: number
  taxPercent: number | null
  discounts: LineDiscount[]
  customisation: string
  giftWrap: boolean
  giftWrapMessage: string
  senderName: string
  receiverName: string
  returnReasonId: string
  returnReasonNotes: string
  status: LineStatus
  carrier: string
  conNote: string
  voucher?: VoucherSale
}

export interface Payment {
  origin: string
  amount: number
  cardType: string
  stan: string
  reference: string
  authCode: string
  message: string
  merchantId: string
  voucherNumber: string
  validationId: string
}

export interface Freight {
  id: string
  name: string
  value: number
  taxPercent: number
}

export interface Order {
  id: number
  /** The number from the shop, or W and a count. */
  number: string
  partnerOrderId: string
  personId: number
  placedAt: Wall
  updated: Wall
  currency: string
  pricesIncludeTax: boolean
  needReview: string
  reviewNotes: string
  pickupStoreId: string
  despatchType: string
  deliveryInstructions: string
  billing: Address
  delivery: Address
  contacts: Contacts
  deliveryContacts: Contacts
  lines: OrderLine[]
  freight?: Freight
  payments: Payment[]
  membershipNumber: string
  /** The time at which its vouchers are allotted, in milliseconds since 1970. */
  vouchersDue: number
  /** True while the temporary table of web sales contains it. Calls for one order read that table. */
  inWebTable: boolean
}

export interface Return {
  id: number
  number: string
  /** The number of the exchange order, for the shopper. */
  authorisation: string
  orderId: number
  originalNumber: string
  personId: number
  created: Wall
  stockUpdate: boolean
  /** 5 completed, 7 cancelled, 9 merged, 10 received. */
  status: 5 | 7 | 9 | 10
  lines: OrderLine[]
  payments: Payment[]
}

export interface Lot {
  id: number
  created: Wall
  description: string
  total: number
  redeemed: number
  pending: number
  /** A day, or empty. */
  expires: string
  /** The ID of the reference for which a reward or gift was issued. */
  reasonId: string
}

export interface GiftIssue {
  id: number
  created: Wall
  description: string
  giftId: number
  available: boolean
  expires: string
  reasonId: string
}

export interface RewardTransaction {
  at: Wall
  description: string
  source: string
  reference: string
  spend: number
  points: number
  reward: number
}

/** A redemption of points or rewards, by its `RequestId`. */
export interface RewardRedemption {
  requestId: string
  accountId: number
  kind: 'points' | 'rewards'
  created: Wall
  status: 'pending' | 'confirmed' | 'reversed'
  /** The amount of each lot. */
  parts: { lotId: number; amount: number }[]
}

export interface Tier {
  id: number
  name: string
  sequence: number
  qualifySpend: number
  bonus: number
}

export interface Program {
  id: number
  name: string
  description: string
  currency: string
  tiers: Tier[]
  /** The points that become a reward, and the value of that reward. */
  threshold: number
  rewardValue: number
  minimumSpend: number
  gifts: { id: number; name: string; styleIds: number[] }[]
}

export interface RewardAccount {
  id: number
  programId: number
  tierId: number
  personId: number
  tierLockedUntil: string
  joined: string
  tierJoined: string
  /** The amount spent in the qualifying period. */
  spend: number
  points: Lot[]
  rewards: Lot[]
  gifts: GiftIssue[]
  transactions: RewardTransaction[]
}
