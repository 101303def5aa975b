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
import { giftCardRow, giftCardSku } from './gift-card.ts'
import { makeStyles } from './products.ts'
import { referenceRows, subscriptionMapping } from './references.ts'
import { giftRows, programRows, rewardRows } from './rewards.ts'
import { productRows, transactionRows } from './rows.ts'
import { makeSales } from './sales.ts'
import { stockRows } from './stock.ts'
import { staffRows, storeRows } from './stores.ts'
import type { Membership } from './tiers.ts'
import { voucherRows } from './vouchers.ts'

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
