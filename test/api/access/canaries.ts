import { createHash } from 'node:crypto'
import { type Db, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { addAccount } from '../../../src/store/accounts/accounts.ts'
import { upsertProducts } from '../../../src/store/catalog/products.ts'
import { upsertStaff } from '../../../src/store/catalog/staff.ts'
import { upsertStores } from '../../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { upsertStock } from '../../../src/store/inventory/stock.ts'
import { upsertTransactions } from '../../../src/store/orders/transactions.ts'
import { upsertPrograms, upsertRewardAccounts } from '../../../src/store/rewards/rewards.ts'
import { upsertGateways } from '../../../src/store/tenancy/gateways.ts'
import { addLogEntries } from '../../support/postgres/log-entries.ts'
import type { Caller, TestApi } from '../../support/service.ts'

/** Returns the path of a canary. `documented` is its path in the OpenAPI document, `id` an ID that `fillWithCanaries` assigned. */
export const toCanaryPath = (documented: string, id: string) =>
  documented
    .replace('{requestId}', toRequestId(id))
    .replace(/\{\w+\}/g, encodeURIComponent(documented === '/inventory/{id}' ? `${id}-sku-${id}` : id))

/** Returns the request ID of a canary redemption, which must be a UUID. */
function toRequestId(id: string) {
  const hex = createHash('sha256').update(id).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Adds two records of each type: one whose IDs and codes are the same in every shop, and one whose IDs are unique. */
export async function fillWithCanaries(api: TestApi, { service }: Caller, canary: string) {
  const { db } = api
  for (const id of ['1', `${canary}id`]) {
    const sku = `sku-${id}`
    await upsertStores(db, service, [
      { storeId: id, storeNumber: id, name: `${canary}store`, ecommerceLocationId: 'location' },
    ])
    await upsertStaff(db, service, [{ id, code: id, surname: `${canary}staff`, email: `${id}@example.com` }])
    await upsertCustomers(db, service, [
      { id, firstname: `${canary}customer`, email: `${id}@example.com`, joinedStoreId: id },
    ])
    await upsertProducts(db, service, [
      {
        product: { productId: id, productCode: id, name: `${canary}product` },
        colour: { productId: id, colourId: id },
        variant: { skuId: id, productId: id, colourId: id, sku, sizeCode: 'S', price: '10.00' },
      },
    ])
    await upsertStock(db, service, [{ storeId: id, skuId: id, freeStock: 7 }])
    await upsertTransactions(db, service, [buildTransaction(id, `${canary}sale`)])
    await upsertPrograms(db, service, [
      {
        program: { programId: id, name: `${canary}program` },
        tier: { programId: id, tierId: id, name: `${canary}tier`, sequence: 1 },
      },
    ])
    await upsertRewardAccounts(db, service, [{ id, customerId: id, programId: id, tierId: id }])
    await db.run(sql`
      insert into reward_redemption (service_id, request_id, account_id, lot_kind, amount, status, username, expires_at)
      values (${service.id}, ${toRequestId(id)}, ${id}, 'points', 1, 'confirmed', ${`${canary}user`}, now())`)
    await placeOrder(db, service, id, `${canary}product`)
    await db.run(sql`
      insert into webhook (service_id, webhook_id, url, kinds, state, cursor, secret)
      values (${service.id}, ${id}, ${`https://${canary}hook.example`}, '["store"]', 'paused', '', '')`)
    await db.run(sql`
      insert into sync_run (service_id, sync, run_id, is_full, error) values (${service.id}, ${id}, ${id}, true, ${`${canary}fault`})`)
    await db.run(sql`
      insert into sync_run (service_id, sync, run_id, origin, is_full, error) values (${service.id}, 'stores', ${id}, 'file', false, ${`${canary}file`})`)
    await addLogEntries(db, service, [{ requestId: id, username: `${canary}user` }])
    await db.run(sql`
      insert into alert (service_id, alert_id, kind, subject, detail) values (${service.id}, ${id}, 'sync_failing', ${id}, ${`${canary}alert`})`)
    await db.run(sql`
      insert into mapping_fix (service_id, kind, record_id, before, after, username, request_id, batch_id)
      values (${service.id}, 'skus', ${id}, '{}', '{}', ${`${canary}user`}, ${id}, ${id})`)
    await db.run(sql`
      insert into ecommerce_connection (service_id, connection_id, driver, url, client_id, encrypted_secret, api_version)
      values (${service.id}, 'main', 'shopify', ${`https://${canary}shop.example`}, ${`${canary}client`}, '', '2026-10') on conflict do nothing`)
    await db.run(sql`
      insert into ecommerce_level (service_id, connection_id, item_id, location_id, hold_reason)
      values (${service.id}, 'main', ${id}, ${`${canary}location`}, 'unmapped')`)
    await db.run(sql`
      insert into ecommerce_reconciliation (service_id, connection_id, reconciliation_id, is_dry_run, state, error)
      values (${service.id}, 'main', ${id}, true, 'failed', ${`${canary}comparison`})`)
    await db.run(sql`
      insert into ecommerce_drift (service_id, connection_id, reconciliation_id, item_id, location_id)
      values (${service.id}, 'main', ${id}, ${id}, ${`${canary}location`})`)
    // Usernames are unique in the whole installation, so two services can't create the same one.
    if (id === '1') continue
    await addAccount(db, api.keys, id, service, 'visitor')
    await db.run(sql`
      insert into api_key (service_id, username, name, key_hash, scopes) values (${service.id}, ${id}, ${id}, ${Buffer.from(id)}, ${[`${canary}scope`]})`)
  }
  await upsertGateways(db, service, [{ name: `${canary}gateway` }])
}

/** Adds an order with one line, half of which was returned, and its return, reservation and shipment. */
async function placeOrder(db: Db, { id: serviceId }: Service, id: string, name: string) {
  await db.run(sql`
    insert into sales_order (service_id, id, changed_at, placed_at, order_number, customer_id, billing_address, delivery_address, currency, decimals, freight, total)
    values (${serviceId}, ${id}, now(), now(), ${id}, ${id}, '{}', '{}', 'USD', 2, 0, 20)`)
  await db.run(sql`
    insert into order_line (service_id, order_id, sequence, status, sku_id, sku, product_code, product_name, size_code, quantity, shipped, price, discounts, value, returned, refunded)
    values (${serviceId}, ${id}, 1, 'shipped', ${id}, ${`sku-${id}`}, ${id}, ${name}, 'S', 2, 2, 10, '[]', 20, 1, 10)`)
  await db.run(sql`
    insert into sales_return (service_id, id, changed_at, created_at, order_id, return_number, authorisation_number, status, restock)
    values (${serviceId}, ${id}, now(), now(), ${id}, ${id}, ${id}, 'requested', true)`)
  await db.run(sql`
    insert into return_line (service_id, return_id, sequence, order_id, order_sequence, quantity, value, reason_code)
    values (${serviceId}, ${id}, 1, ${id}, 1, 1, 10, 'SIZE')`)
  await db.run(sql`
    insert into stock_reservation (service_id, id, reference, account, expires_at)
    values (${serviceId}, ${id}, ${name}, ${name}, now() + interval '1 day')`)
  await db.run(sql`
    insert into shipment (service_id, id, changed_at, order_id, source_key, carrier, tracking_number, lines)
    values (${serviceId}, ${id}, now(), ${id}, ${id}, ${name}, ${name}, '[]')`)
}

const buildTransaction = (id: string, productName: string) => ({
  header: { id, saleDate: '2024-05-26 00:00:00', customerId: id },
  line: { id: '1', quantity: 1, price: '10.00', value: '10.00', productName },
})
