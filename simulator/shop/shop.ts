import type {
  Colour,
  Coupon,
  FreightOption,
  Mail,
  Person,
  Promotion,
  ReferenceType,
  Sku,
  Store,
  Style,
  Transaction,
  Voucher,
} from './records.ts'
import type { Order, Program, Return, RewardAccount, RewardRedemption } from './sales.ts'
import type { Stock } from './stock.ts'

/** The data of the retailer's database. */
export interface Shop {
  stores: Map<number, Store>
  styles: Map<number, Style>
  colours: Map<number, Colour>
  skus: Map<number, Sku>
  stock: Stock
  referenceTypes: Map<number, ReferenceType>
  persons: Map<number, Person>
  /** Persons that were deleted in the back office. */
  formerPersons: Map<number, Person>
  transactions: Transaction[]
  orders: Map<number, Order>
  /** Orders with vouchers that are not allotted yet. */
  awaitingVouchers: Set<number>
  returns: Map<number, Return>
  vouchers: Map<string, Voucher>
  mail: Mail[]
  programs: Map<number, Program>
  accounts: Map<number, RewardAccount>
  /** Accounts by the ID of their person. A person has at most one. */
  accountsByPerson: Map<number, RewardAccount>
  /** Redemptions by `RequestId`. */
  redemptions: Map<string, RewardRedemption>
  /** Future prices by SKU, each with its first day. */
  futurePrices: Map<number, { from: string; price: number }[]>
  coupons: Map<string, Coupon>
  /** Coupon requests that an order has redeemed. */
  finalisedCouponRequests: Set<string>
  promotions: Map<number, Promotion>
  /** The discount of each loyalty type, in per cent. */
  loyaltyPercents: Map<number, number>
  freightOptions: Map<number, FreightOption>
  /** The last number of each kind of record. */
  last: Record<Sequence, number>
}

export type Sequence =
  | 'person'
  | 'loyalty'
  | 'order'
  | 'orderNumber'
  | 'line'
  | 'return'
  | 'transaction'
  | 'docket'
  | 'voucher'
  | 'account'
  | 'lot'
  | 'reference'

/** Returns the next number of a kind of record. */
export function createId(shop: Pick<Shop, 'last'>, sequence: Sequence): number {
  shop.last[sequence]++
  return shop.last[sequence]
}

/** Formats a number such as `W0000125`. */
export const formatWebNumber = (count: number) => `W${String(count).padStart(7, '0')}`

/** Rounds an amount to cents. */
export const roundToCents = (amount: number) => Math.round((amount + Number.EPSILON * Math.sign(amount)) * 100) / 100

export const sumAmounts = (amounts: Iterable<number>) => {
  let total = 0
  for (const amount of amounts) total += amount
  return roundToCents(total)
}

/** Returns the number of records of each kind. */
export const countRecords = (shop: Shop) => ({
  stores: shop.stores.size,
  styles: shop.styles.size,
  skus: shop.skus.size,
  stockRows: shop.stock.countPositive(),
  referenceTypes: shop.referenceTypes.size,
  persons: shop.persons.size,
  transactions: shop.transactions.length,
  orders: shop.orders.size,
  returns: shop.returns.size,
  vouchers: shop.vouchers.size,
  mail: shop.mail.length,
  rewardAccounts: shop.accounts.size,
})
