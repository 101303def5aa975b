import type { Wall } from './clock.ts'

export interface Address {
  contactName: string
  companyName: string
  line1: string
  line2: string
  city: string
  state: string
  postcode: string
  country: string
}

export interface Store {
  id: number
  /** The column in the grid of stock. */
  column: number
  code: string
  /** The number that people use. Empty for a warehouse. */
  number: string
  name: string
  address: Address
  email: string
  /** `/Stores` lists only shops. Warehouses and web stores only have stock. */
  kind: 'shop' | 'warehouse' | 'web'
}

/** The lowest level of an item, which decides the shape of its Freestock responses. */
export type Depth = 'size' | 'colour' | 'style'

export interface Style {
  id: number
  code: string
  name: string
  description: string
  sizeRange: string
  note: string
  depth: Depth
  updated: Wall
  references: Map<number, number>
  colours: Colour[]
  /** Set for a voucher or freight item, which can be sold but has no stock. */
  special?: 'voucher' | 'freight'
}

export interface Colour {
  id: number
  style: Style
  sequence: number
  code: string
  name: string
  typeCode: string
  markdown: 'None' | 'Permanent' | 'Temporary' | 'TempPermanent'
  skus: Sku[]
}

export interface Sku {
  id: number
  /** The row in the grid of stock. */
  row: number
  colour: Colour
  sequence: number
  size: string
  sizeName: string
  originalPrice: number
  price: number
  weight?: number
  /** A day, or empty. */
  nextAvailable: string
  barcode: string
}

export interface ReferenceType {
  id: number
  code: string
  name: string
  references: Map<number, { id: number; code: string; name: string }>
  /** The type of record that has references of this type. */
  recordType: 'person' | 'product' | 'colour' | 'other'
}

/** The reference type of the reasons for which rewards are issued. */
export const rewardReasons = 1701

/** The code of the voucher type that is sold by email. */
export const emailVoucher = 'GV_EMAIL'

export interface Loyalty {
  id: number
  typeId: number
  cardNumber: string
  expiry: string
  balance: string
  creditStatus: string
  message: string
  joinDate: string
  statusId: string
  active: boolean
}

/** A card of custom data: the values of each of its fields. */
export type Card = Map<string, string[]>

export interface Contacts {
  email: string
  home: string
  mobile: string
  work: string
}

export interface Person extends Contacts {
  id: number
  code: string
  title: string
  initials: string
  firstname: string
  surname: string
  sex: string
  /** Days as `yyyy-MM-dd`, or empty. */
  dateOfBirth: string
  startDate: string
  jobTitle: string
  password: string
  privacy: boolean
  isAgent: boolean
  updated: Wall
  references: Map<number, number>
  customData: Map<string, Card>
  billing: Address
  delivery: Address
  currency: string
  loyalties: Loyalty[]
  /** Fields that only the export contains. */
  joinedStoreId: number
  retailRep: boolean
}

/** A sale that a person's history shows. */
export interface Transaction {
  id: number
  number: string
  /** Null for an unclaimed docket. */
  personId: number | null
  orderNumber: string
  type: 'Sale' | 'Layby' | 'Layby Update' | 'Special Order' | 'Special Order Update'
  day: string
  storeId: number
  currency: string
  carrier: string
  carrierUrl: string
  conNote: string
  serviceType: string
  lines: TransactionLine[]
}

export interface TransactionLine {
  id: number
  skuId: number
  quantity: number
  price: number
  value: number
  taxPercent: number
  discounts: {
    id: number
    type: 'Discount' | 'Promotion' | 'Loyalty'
    reason: string
    amount: number
    percent: number
  }[]
}

export interface Voucher {
  number: string
  pin: string
  type: string
  currency: string
  original: number
  used: number
  /** The amount that was written off, for example at expiry. */
  writtenOff: number
  /** A day, or empty. */
  expires: string
  state: 'issued' | 'not issued' | 'suspended' | 'range suspended'
  /** True if it has a PIN. Other vouchers can't be used online. */
  secure: boolean
  /** True if it must be used in full. */
  wholeOnly: boolean
  promotional: boolean
  /** The ID of the last validation. The next validation replaces it. */
  validationId: string
  /** End of the lock in milliseconds since 1970; 0 if it is not locked. */
  lockedUntil: number
}

/** An email that Apparel21 has sent. */
export interface Mail {
  at: string
  to: string
  subject: string
  voucher: string
  pin: string
  amount: number
}

/** A promotion that the cart call applies: a percentage off lines with a minimum quantity. */
export interface Promotion {
  id: number
  name: string
  minimum: number
  percentage: number
}

/** A freight option of the web store. `value` is its price with tax. */
export interface FreightOption {
  id: number
  name: string
  value: number
  carrier: { id: number; code: string; text: string; url: string }
  serviceType: { id: number; code: string; text: string }
  sla: { id: number; code: string; text: string }
}

export interface Coupon {
  code: string
  name: string
  type: 'Generic' | 'Unique'
  status: 'Enabled' | 'Disabled'
  /** Days as `yyyy-MM-dd`. */
  validFrom: string
  validTo: string
  /** 0 if all persons can use it. */
  personId: number
  percentage: number
  redeemed: boolean
  /** The `RequestId` that has reserved it. */
  lockedBy: string
  /** End of the reservation in milliseconds since 1970. */
  lockedUntil: number
}
