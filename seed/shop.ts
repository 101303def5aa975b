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
import { createChangeTimeDraw } from './changes.ts'
import { makeShoppers, type Shopper } from './customers.ts'
import { formatDollars } from './money.ts'
import { type Place, places, warehouse } from './places.ts'
import { createBarcode, makeStyles, type Style } from './products.ts'
import { createItemDraw, type Random, randomFor } from './random.ts'
import { buildReferenceRows, subscriptionMapping } from './references.ts'
import { buildGiftRows, buildProgramRows, buildRewardRows } from './rewards.ts'
import { buildProductRows, buildTransactionRows } from './rows.ts'
import { makeSales } from './sales.ts'
import { buildStaffRows, buildStoreRows, getStoreId } from './stores.ts'
import type { Membership } from './tiers.ts'
import { buildVoucherRows } from './vouchers.ts'

/** The SKU of gift cards. */
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
 * Builds the rows of the demo shop. They are always the same, on every machine.
 * Three years of sales end on 31 October 2026. Points, rewards and gifts expire in 2027-2029.
 */
export function makeDemoShop() {
  const styles = makeStyles()
  const shoppers = makeShoppers()
  const { sales, members } = makeSales(styles, shoppers)
  return {
    references: buildReferenceRows(),
    stores: addChangeTimes('stores', buildStoreRows()),
    staff: addChangeTimes('staff', buildStaffRows()),
    products: [...buildProductRows(styles), buildGiftCardRow()],
    stock: addChangeTimes('stock', buildStockRows(styles)),
    customers: buildCustomerRows(shoppers, members),
    transactions: buildTransactionRows(sales),
    gateways: gateways.map(name => ({ name })),
    tiers: buildProgramRows(),
    gifts: buildGiftRows(styles),
    rewards: buildRewardRows(sales, members),
    vouchers: buildVoucherRows(),
  }
}

/** Adds the time of the last change to rows. */
function addChangeTimes<T extends object>(kind: string, rows: readonly T[]) {
  const drawChangeTime = createChangeTimeDraw(kind)
  return rows.map(row => Object.assign(row, drawChangeTime()))
}

/** Rows per database transaction. */
const batch = 5_000

/** Fills a service with the demo shop, or with a part of it. Calls `onProgress` after each type of record. */
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
    const upsertAll = async () => {
      for (let i = 0; i < rows.length; i += batch) {
        await upsert(db, service, rows.slice(i, i + batch))
        await analyzeGrownTables(db)
      }
    }
    await (list ? withInitialLoad(db, service, list, upsertAll) : upsertAll())
    onProgress(`${label}: ${formatThousands(rows.length)}`)
  }
  await fill('Reference values', upsertReferences, shop.references)
  await fill('Stores', upsertStores, shop.stores, 'store')
  await fill('Staff', upsertStaff, shop.staff, 'staff')
  await fill('Colours and sizes', upsertProducts, shop.products, 'product')
  const sales = async () => {
    await fill('Customers', upsertCustomers, shop.customers, 'customer')
    await fill('Transaction lines', upsertTransactions, shop.transactions, 'retail_transaction')
  }
  // Stock and sales take equally long and don't depend on each other, so they are written concurrently.
  await Promise.all([fill('Stock levels', upsertStock, shop.stock, 'stock'), sales()])
  await fill('Payment gateways', upsertGateways, shop.gateways)
  await fill('Reward tiers', upsertPrograms, shop.tiers)
  await fill('Gifts', upsertGifts, shop.gifts)
  await fill('Reward accounts', upsertRewardAccounts, shop.rewards.accounts)
  await fill('Points, rewards and gifts', upsertRewardLots, shop.rewards.lots)
  await insertVouchers(db, keys, service, shop.vouchers)
  onProgress(`Gift vouchers: ${shop.vouchers.length}`)
}

const formatThousands = (count: number) => String(count).replace(/(?=(\d{3})+$)\B/g, ',')

/** Builds the customers as rows for `upsertCustomers`. Members have the code and name of their tier. */
function buildCustomerRows(shoppers: readonly Shopper[], members: ReadonlyMap<Shopper, Membership>) {
  const drawChangeTime = createChangeTimeDraw('customers')
  return shoppers.map(shopper => {
    const tier = members.get(shopper)?.getTier(referenceDay)
    const row = { ...shopper.row, loyaltyCode: tier?.code ?? null, loyaltyName: tier?.name ?? null }
    return Object.assign(row, drawChangeTime(shopper.started))
  })
}

/** Builds the gift card as a row for `upsertProducts`. It isn't a style, so sales and stock don't contain it. */
const buildGiftCardRow = () => ({
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
    originalPrice: formatDollars(5_000),
    price: formatDollars(5_000),
    barcode: createBarcode(129_900 * 37),
  },
})

const drawShelfUnits = createItemDraw([
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

/** Builds the stock as rows for `upsertStock`. Busy shops have more of the range, the warehouse nearly all of it. */
function buildStockRows(styles: readonly Style[]) {
  const random = randomFor('stock')
  return places.flatMap(place => {
    const share = place === warehouse ? 0.97 : 0.38 + place.weight / 40
    const stocked = styles.filter(() => random.chance(share + 0.1))
    return stocked.flatMap(style =>
      style.colours
        .filter(() => random.chance(share + 0.1))
        .flatMap(colour =>
          colour.sizes.map(size => ({
            storeId: getStoreId(place),
            skuId: size.id,
            freeStock: drawUnits(random, place, colour.markdownStatus === 'clearance'),
            // Some sizes have a larger buffer.
            buffer: random.chance(0.015) ? random.integer(2, 5) : null,
          })),
        ),
    )
  })
}

/** Draws the stock of a SKU at a place. A few levels are negative, as if units were sold before their receipt was recorded. */
function drawUnits(random: Random, place: Place, isClearance: boolean) {
  if (random.chance(0.004)) return -random.integer(1, 3)
  const shelf = drawShelfUnits(random)
  if (isClearance) return Math.floor(shelf / 2)
  return place === warehouse ? shelf * random.integer(4, 18) : shelf
}
