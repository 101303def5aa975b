import { productRows, stockRows, stores } from '../../scenarios/support/records.ts'
import { sql } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { upsertProducts } from '../../src/store/catalog/products.ts'
import { upsertStores } from '../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { upsertStock } from '../../src/store/inventory/stock.ts'
import { upsertPrograms, upsertRewardAccounts } from '../../src/store/rewards/rewards.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { insertVouchers } from '../../src/store/vouchers/vouchers.ts'
import type { LoadedDatabase } from '../rig/database.ts'

/** Number of clients that write at the same time. */
export const clients = 32
/** Number of members of the reward program. Their IDs are the numbers from 0. */
export const shoppers = 1_000

/** Each client's own voucher, and the voucher that many clients lock. */
export const ownVouchers = Array.from({ length: clients }, (_, client) => `own-${client}`)
export const contendedVoucher = 'contended'
/** Number of clients that lock the contended voucher. */
export const contenders = 200
export const pin = '381940'

/** Opens another service in the same tables as the one with many records. */
export async function openShop({ db, keys }: LoadedDatabase, name: string): Promise<Service> {
  const enabled = { vouchersEnabled: true, giftCardSku: productRows[0]?.variant.sku ?? '', voucherType: 'DIGITAL' }
  const service = await addService(db, name, {
    currency: 'AUD',
    readsPerMinute: 'off',
    writesPerMinute: 'off',
    // The runs sell more units than the stores have.
    oversell: 'allow',
    ...enabled,
  })
  if (!service) throw new Error(`the service ${name} already exists`)
  await upsertStores(db, service, stores)
  await upsertProducts(db, service, productRows)
  await upsertStock(db, service, stockRows)
  await upsertGateways(db, service, [{ name: 'paypal' }])
  const ids = Array.from({ length: shoppers }, (_, i) => String(i))
  await upsertCustomers(
    db,
    service,
    ids.map(id => ({ id, firstname: 'Ann', surname: 'Lee' })),
  )
  const tier = {
    programId: '1',
    tierId: '1',
    name: 'Fledgling',
    sequence: 1,
    accrualSpend: '1.00',
    accrualPoints: 1,
    autoRewardPointThreshold: 300,
    autoRewardValue: '10.00',
    pointsExpiryMonths: 36,
    rewardExpiryMonths: 36,
  }
  await upsertPrograms(db, service, [{ program: { programId: '1', name: 'Circle' }, tier }])
  const accounts = ids.map(id => ({ id, customerId: id, programId: '1', tierId: '1' }))
  await upsertRewardAccounts(db, service, accounts)
  const voucher = { pin, state: 'active', originalAmount: '150.00', usedAmount: '0.00', expiryDate: null } as const
  await insertVouchers(
    db,
    keys,
    service,
    [...ownVouchers, contendedVoucher].map(number => ({ ...voucher, number })),
  )
  // Autovacuum would analyze the tables a minute later. Empty tables are skipped, because PostgreSQL would plan as if they stayed empty.
  await db.run(
    sql`analyze store, product, colour, variant, stock, customer, payment_gateway, reward_tier, reward_account, voucher, voucher_entry`,
  )
  return service
}
