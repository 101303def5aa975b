import { dayMs, type Wall } from '../shop/clock.ts'
import { randomFor } from '../shop/random.ts'
import type { Coupon, FreightOption, Promotion } from '../shop/records.ts'
import type { Shop } from '../shop/shop.ts'
import { makePersons } from './persons.ts'
import { makeStocks, makeStyles } from './products.ts'
import { makeReferenceTypes } from './references.ts'
import { makeAccounts, makePrograms } from './rewards.ts'
import { makeSales } from './sales.ts'
import { makeStores } from './stores.ts'
import { makeVouchers } from './vouchers.ts'

export interface Size {
  /** All locations with stock: shops, warehouses and the web store. */
  stores: number
  styles: number
  /** If set, the number of SKUs decides the number of styles. */
  skus?: number
  persons: number
  /** In addition to the vouchers of every shop. */
  vouchers: number
}

/** The sizes of shops. `large` has the size of a real retailer: 60,000 SKUs, 525,000 rows of stock. */
export const sizes = {
  small: { stores: 12, styles: 60, persons: 300, vouchers: 30 },
  medium: { stores: 30, styles: 1_500, persons: 5_000, vouchers: 300 },
  large: { stores: 83, styles: 12_900, skus: 60_000, persons: 50_000, vouchers: 3_000 },
} as const satisfies Record<string, Size>
export type SizeName = keyof typeof sizes

/** Creates a shop. The same seed, size and day create the same shop. */
export function makeShop(seed: string, size: Size, now: Wall): Shop {
  const today = Math.floor(now / dayMs) * dayMs
  const random = (part: string) => randomFor(seed, part)
  const stores = makeStores(size.stores, random('stores'))
  const columns = [...stores.values()].sort((a, b) => a.column - b.column)
  const styles = makeStyles({ styles: size.styles, skus: size.skus }, today, random('products'))
  const colours = styles.flatMap(style => style.colours)
  const skus = colours.flatMap(colour => colour.skus)
  const loyalties = { last: 1_260 }
  const personContext = {
    today,
    stores: columns.filter(store => store.kind === 'shop'),
    codes: new Map<string, number>(),
    loyalties,
  }
  const shop: Shop = {
    stores,
    styles: new Map(styles.map(style => [style.id, style])),
    colours: new Map(colours.map(colour => [colour.id, colour])),
    skus: new Map(skus.map(sku => [sku.id, sku])),
    stock: makeStocks(skus, columns, today, random('stock')),
    referenceTypes: makeReferenceTypes(),
    persons: makePersons(size.persons, personContext, random('persons')),
    formerPersons: new Map(),
    transactions: [],
    orders: new Map(),
    awaitingVouchers: new Set(),
    returns: new Map(),
    vouchers: makeVouchers(size.vouchers, today, random('vouchers')),
    mail: [],
    programs: new Map(),
    accounts: new Map(),
    accountsByPerson: new Map(),
    redemptions: new Map(),
    futurePrices: new Map(),
    coupons: makeCoupons(),
    finalisedCouponRequests: new Set(),
    promotions: makePromotions(),
    loyaltyPercents: new Map(),
    freightOptions: makeFreightOptions(),
    last: {
      person: 3_000 + size.persons,
      loyalty: loyalties.last,
      order: 40_000,
      orderNumber: 0,
      line: 15_000,
      return: 0,
      transaction: 13_000,
      docket: 100_000,
      voucher: 6_000_100 + size.vouchers,
      account: 0,
      lot: 42_000,
      reference: 90_000,
    },
  }
  shop.programs = makePrograms(shop)
  makeSales(shop, today, random('sales'))
  makeAccounts(shop, today, random('rewards'))
  return shop
}

const usual = {
  status: 'Enabled',
  validFrom: '2020-01-01',
  validTo: '2099-12-31',
  personId: 0,
  percentage: 20,
} as const

/** Creates coupons of every state. All persons can use a generic coupon repeatedly. A unique coupon can be used once. */
function makeCoupons(): Map<string, Coupon> {
  const coupons: Omit<Coupon, 'redeemed' | 'lockedBy' | 'lockedUntil'>[] = [
    { ...usual, code: 'BLACK21', name: 'BLACK FRIDAY 21', type: 'Generic' },
    { ...usual, code: 'SEASON1', name: 'New season', type: 'Unique' },
    { ...usual, code: 'SEASON2', name: 'New season', type: 'Unique' },
    { ...usual, code: 'DISABLED', name: 'Disabled', type: 'Generic', status: 'Disabled' },
    { ...usual, code: 'EARLY', name: 'Early', type: 'Generic', validFrom: '2099-01-01' },
    { ...usual, code: 'EXPIRED', name: 'Expired', type: 'Generic', validTo: '2020-12-31' },
    { ...usual, code: 'ELSEWHERE', name: 'For other items', type: 'Unique', percentage: 0 },
    { ...usual, code: 'PERSONAL', name: 'Personal', type: 'Unique', personId: 3_001 },
  ]
  return new Map(coupons.map(coupon => [coupon.code, { ...coupon, redeemed: false, lockedBy: '', lockedUntil: 0 }]))
}

/** Creates the promotions that apply to a cart automatically. */
const makePromotions = (): Map<number, Promotion> =>
  new Map([[1_080, { id: 1_080, name: 'Buy 3, 10% off', minimum: 3, percentage: 10 }]])

const carrier = { id: 18_936, code: 'AUS', text: 'Australia Post', url: 'https://auspost.example/track' }

/** Creates the active freight options of the web store. */
const makeFreightOptions = (): Map<number, FreightOption> => {
  const options: FreightOption[] = [
    {
      id: 161,
      name: 'Express',
      value: 15,
      carrier,
      serviceType: { id: 18_935, code: '50X1', text: 'eParcel Express' },
      sla: { id: 19_254, code: 'Express', text: 'Express' },
    },
    {
      id: 162,
      name: 'Standard',
      value: 9.95,
      carrier,
      serviceType: { id: 18_934, code: '50S1', text: 'eParcel Standard' },
      sla: { id: 19_252, code: 'Std', text: 'Standard' },
    },
  ]
  return new Map(options.map(option => [option.id, option]))
}
