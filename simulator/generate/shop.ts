import { day, type Wall } from '../shop/clock.ts'
import { randomFor } from '../shop/random.ts'
import type { Shop } from '../shop/shop.ts'
import { makeCoupons } from './coupons.ts'
import { makePersons } from './persons.ts'
import { makeStocks, makeStyles } from './products.ts'
import { makeFreightOptions, makePromotions } from './promotions.ts'
import { makeReferenceTypes } from './references.ts'
import { makeAccounts, makePrograms } from './rewards.ts'
import { makeSales } from './sales.ts'
import { makeStores } from './stores.ts'
import { makeVouchers } from './vouchers.ts'

export interface Size {
  /** All places with stock: shops, warehouses, the web store. */
  stores: number
  styles: number
  /** If set, the number of SKUs decides the number of styles. */
  skus?: number
  persons: number
  /** Besides those that are in every shop. */
  vouchers: number
}

/** `large` is a real retailer: 60,000 SKUs, 525,000 rows of stock. */
export const sizes = {
  small: { stores: 12, styles: 60, persons: 300, vouchers: 30 },
  medium: { stores: 30, styles: 1_500, persons: 5_000, vouchers: 300 },
  large: { stores: 83, styles: 12_900, skus: 60_000, persons: 50_000, vouchers: 3_000 },
} as const satisfies Record<string, Size>
export type SizeName = keyof typeof sizes

/** A shop that is the same for the same seed, size and day. */
export function makeShop(seed: string, size: Size, now: Wall): Shop {
  const today = Math.floor(now / day) * day
  const random = (part: string) => randomFor(seed, part)
  const stores = makeStores(size.stores, random('stores'))
  const columns = [...stores.values()].sort((a, b) => a.column - b.column)
  const styles = makeStyles({ styles: size.styles, skus: size.skus }, today, random('products'))
  const colours = styles.flatMap(style => style.colours)
  const skus = colours.flatMap(colour => colour.skus)
  const loyalties = { last: 1_260 }
  const drawn = {
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
    persons: makePersons(size.persons, drawn, random('persons')),
    formerPersons: new Map(),
    transactions: [],
    orders: new Map(),
    awaitingVouchers: new Set(),
    returns: new Map(),
    vouchers: makeVouchers(size.vouchers, today, random('vouchers')),
    mail: [],
    programs: new Map(),
    accounts: new Map(),
    accountOfPerson: new Map(),
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
