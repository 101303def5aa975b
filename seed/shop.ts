import type { Keys } from '../src/crypto/keys.ts'
import type { Database } from '../src/database/db.ts'
import type { Service, Settings } from '../src/domain/tenancy/service-settings.ts'
import { upsertProducts } from '../src/store/catalog/products.ts'
import { upsertReferences } from '../src/store/catalog/references.ts'
import { upsertStaff } from '../src/store/catalog/staff.ts'
import { upsertStores } from '../src/store/catalog/stores.ts'
import { upsertCustomers } from '../src/store/customers/customers.ts'
import { upsertStock } from '../src/store/inventory/stock.ts'
import type { List } from '../src/store/lists/change-timestamp.ts'
import { withInitialLoad } from '../src/store/lists/initial-load.ts'
import { analyzeGrownTables } from '../src/store/lists/statistics.ts'
import { upsertTransactions } from '../src/store/orders/transactions.ts'
import { upsertGifts, upsertPrograms, upsertRewardAccounts, upsertRewardLots } from '../src/store/rewards/rewards.ts'
import { upsertGateways } from '../src/store/tenancy/gateways.ts'
import { insertVouchers } from '../src/store/vouchers/vouchers.ts'
import { referenceDay } from './calendar.ts'
import { changesOf } from './changes.ts'
import { makeShoppers, type Shopper } from './customers.ts'
import { dollars } from './money.ts'
import { type Place, places, warehouse } from './places.ts'
import { barcode, makeStyles, type Style } from './products.ts'
import { drawFrom, type Random, randomFor } from './random.ts'
import { referenceRows, subscriptionMapping } from './references.ts'
import { giftRows, programRows, rewardRows } from './rewards.ts'
import { productRows, transactionRows } from './rows.ts'
import { makeSales } from './sales.ts'
import { staffRows, storeId, storeRows } from './stores.ts'
import type { Membership } from './tiers.ts'
import { voucherRows } from './vouchers.ts'

/** The SKU of gift vouchers: the gift card SKU index. */
const giftCardSku = 'GIFTCARD'

/** The settings of the demo shop, an invented clothing retailer in Australia and New Zealand. Everything is configured. */
export const demoSettings: Partial<Settings> = {
  retailerName: 'Currawick',
  timeZone: 'Australia/Melbourne',
  currency: 'AUD',
  inventoryBuffer: 1,
  vouchersEnabled: true,
  giftCardSku,
  voucherType: 'DIGITAL',
  emailSender: 'gifts@currawick.example',
  subscriptionMapping,
  referenceTypes: ['ageGroup', 'emailNews', 'favouriteStore', 'interest', 'smsNews'],
}

const gateways = ['bank-transfer', 'buy-now-pay-later', 'card', 'cash', 'gift-card', 'paypal', 'reward']

/**
 * Yields the rows of the demo shop. They are the same every time, on every machine.
 * Three years of sales end on 31 October 2026. Points, rewards and gifts expire in 2027-2029.
 */
export function makeDemoShop() {
  const styles = makeStyles()
  const shoppers = makeShoppers()
  const { sales, members } = makeSales(styles, shoppers)
  return {
    references: referenceRows(),
    stores: changed('stores', storeRows()),
    staff: changed('staff', staffRows()),
    products: [...productRows(styles), giftCardRow()],
    stock: changed('stock', stockRows(styles)),
    customers: customerRows(shoppers, members),
    transactions: transactionRows(sales),
    gateways: gateways.map(name => ({ name })),
    tiers: programRows(),
    gifts: giftRows(styles),
    rewards: rewardRows(sales, members),
    vouchers: voucherRows(),
  }
}

/** Adds the time of the last change to rows. */
function changed<T extends object>(kind: string, rows: readonly T[]) {
  const change = changesOf(kind)
  return rows.map(row => Object.assign(row, change()))
}

/** Rows per transaction. */
const batch = 5_000

/** Fills a service with the demo shop, or with a part of it. Reports progress line by line. */
export async function fillDemoShop(
  db: Database,
  keys: Keys,
  service: Service,
  onProgress: (text: string) => void = () => {},
  shop = makeDemoShop(),
): Promise<void> {
  const fill = async <T>(
    label: string,
    upsert: (db: Database, service: Service, rows: readonly T[]) => Promise<unknown>,
    rows: readonly T[],
    list?: List,
  ) => {
    const bring = async () => {
      for (let i = 0; i < rows.length; i += batch) {
        await upsert(db, service, rows.slice(i, i + batch))
        await analyzeGrownTables(db)
      }
    }
    await (list ? withInitialLoad(db, service, list, bring) : bring())
    onProgress(`${label}: ${thousands(rows.length)}`)
  }
  await fill('Reference values', upsertReferences, shop.references)
  await fill('Stores', upsertStores, shop.stores, 'store')
  await fill('Staff', upsertStaff, shop.staff, 'staff')
  await fill('Colours and sizes', upsertProducts, shop.products, 'product')
  const sales = async () => {
    await fill('Customers', upsertCustomers, shop.customers, 'customer')
    await fill('Transaction lines', upsertTransactions, shop.transactions, 'retail_transaction')
  }
  // Stock takes the database as long as the sales, and neither depends on the other.
  await Promise.all([fill('Stock levels', upsertStock, shop.stock, 'stock'), sales()])
  await fill('Payment gateways', upsertGateways, shop.gateways)
  await fill('Reward tiers', upsertPrograms, shop.tiers)
  await fill('Gifts', upsertGifts, shop.gifts)
  await fill('Reward accounts', upsertRewardAccounts, shop.rewards.accounts)
  await fill('Points, rewards and gifts', upsertRewardLots, shop.rewards.lots)
  await insertVouchers(db, keys, service, shop.vouchers)
  onProgress(`Gift vouchers: ${shop.vouchers.length}`)
}

const thousands = (count: number) => String(count).replace(/(?=(\d{3})+$)\B/g, ',')

/** Yields the customers as rows for `upsertCustomers`. Members show their tier. */
function customerRows(shoppers: readonly Shopper[], members: ReadonlyMap<Shopper, Membership>) {
  const change = changesOf('customers')
  return shoppers.map(shopper => {
    const tier = members.get(shopper)?.tierOn(referenceDay)
    const row = { ...shopper.row, loyaltyCode: tier?.code ?? null, loyaltyName: tier?.name ?? null }
    return Object.assign(row, change(shopper.started))
  })
}

/** The gift card as a row for `upsertProducts`. It isn't a style: past sales and stock don't contain it. */
const giftCardRow = () => ({
  product: {
    productId: '5900',
    productCode: giftCardSku,
    name: 'Digital Gift Card',
    description: 'Sent by e-mail, with a number and a PIN. Spent in any of our shops, or online.',
    sizeRange: 'One size',
    referenceValues: {},
    updateTimeStamp: '2025-03-03 09:30:00',
  },
  colour: {
    productId: '5900',
    colourId: '61900',
    code: 'DIG',
    name: 'Digital',
    ecommerceProductId: null,
    markdownStatus: 'none' as const,
  },
  variant: {
    productId: '5900',
    colourId: '61900',
    skuId: '129900',
    sku: giftCardSku,
    sizeCode: 'OS',
    sequence: 1,
    originalPrice: dollars(5_000),
    price: dollars(5_000),
    barcode: barcode(129_900 * 37),
  },
})

const onShelf = drawFrom([
  [0, 14],
  [1, 18],
  [2, 22],
  [3, 16],
  [4, 11],
  [5, 7],
  [6, 5],
  [8, 4],
  [12, 2],
] as const)

/** Yields the stock as rows for `upsertStock`. Busy shops keep more of the range, the warehouse nearly all of it. */
function stockRows(styles: readonly Style[]) {
  const random = randomFor('stock')
  return places.flatMap(place => {
    const share = place === warehouse ? 0.97 : 0.38 + place.weight / 40
    const stocked = styles.filter(() => random.chance(share + 0.1))
    return stocked.flatMap(style =>
      style.colours
        .filter(() => random.chance(share + 0.1))
        .flatMap(colour =>
          colour.sizes.map(size => ({
            storeId: storeId(place),
            skuId: size.id,
            freeStock: units(random, place, colour.markdownStatus === 'clearance'),
            // Some sizes have a larger buffer.
            buffer: random.chance(0.015) ? random.integer(2, 5) : null,
          })),
        ),
    )
  })
}

/** A negative figure: units that were sold before they were booked in. */
function units(random: Random, place: Place, clearance: boolean) {
  if (random.chance(0.004)) return -random.integer(1, 3)
  const shelf = onShelf(random)
  if (clearance) return Math.floor(shelf / 2)
  return place === warehouse ? shelf * random.integer(4, 18) : shelf
}
