import { type Database, raw, type Sql, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'

/** An instant in 2024, which depends on `i` and is scattered like real changes. */
const instant = sql`(timestamptz '2025-01-01Z' - (hashint4(i)::bigint + 2147483648) / 4294967296.0 * interval '366 days')`

/** An instant in the last 60 days, for records with that retention. */
const recentInstant = sql`now() - (hashint4(i)::bigint + 2147483648) / 4294967296.0 * interval '60 days'`

/** Builds JSON with the length of a record. No list reads its content. */
const buildRecord = (length: number) =>
  sql`json_build_object('id', i::text, 'text', repeat('x', ${length}::integer))::text`

/** Builds an ID from 1 to `count`. Every fiftieth row has the ID 1, so that it has more than a page of records. */
const pickOne = (prefix: string, count: number) =>
  sql`case when i % 50 = 0 then ${`${prefix}1`} else ${prefix}::text || 1 + (hashint4(i) & 2147483647) % ${count}::integer end`

/**
 * Fills a service by SQL, so that tables have the statistics of production services: `scale` times 15,000 customers,
 * 30,000 transactions, and their related rows.
 */
export async function fillService(db: Database, { id }: Service, scale: number) {
  const service = sql`${id}::integer`
  const scaleCount = (count: number) => Math.round(count * scale)
  const upTo = (count: number) => sql`from generate_series(1, ${count}::integer) i`
  const customers = scaleCount(15_000)
  const stores = scaleCount(120)
  const products = scaleCount(4_000)
  const orders = scaleCount(8_000)
  const returns = scaleCount(8_000)
  const rows: Record<string, Sql> = {
    'account_service (service_id, username, role, is_program, changed_at)': sql`
      select ${service}, ${service} || 'u' || i, 'visitor', i % 2 = 0, ${instant} ${upTo(scaleCount(300))}`,
    'webhook (service_id, webhook_id, url, kinds, secret, cursor)': sql`
      select ${service}, 'w' || i, 'https://shop.example/hooks', '["customer"]', '', 'x' ${upTo(scaleCount(200))}`,
    'webhook_attempt (service_id, webhook_id, changed_at, delivery_id, changes, status, response, milliseconds)': sql`
      select ${service}, ${pickOne('w', scaleCount(200))}, ${instant}, 'd' || i, 100, 200, 'ok', 20 ${upTo(scaleCount(30_000))}`,
    'account_password (username, password_hash)': sql`select ${service} || 'u' || i, '' ${upTo(scaleCount(300))}`,
    'store (service_id, store_id, changed_at, record, store_number, name, ecommerce_location_id)': sql`
      select ${service}, 's' || i, ${instant}, ${buildRecord(300)}, i::text, 'Store ' || i, 'l' || i ${upTo(stores)}`,
    'staff (service_id, id, changed_at, record, code, surname, email)': sql`
      select ${service}, 'f' || i, ${instant}, ${buildRecord(200)}, 'f' || i, 'Person ' || i, 'f' || i || '@example.com' ${upTo(scaleCount(2_000))}`,
    'product (service_id, product_id, changed_at, record, product_code, name)': sql`
      select ${service}, 'p' || i, ${instant}, ${buildRecord(900)}, 'code' || i, 'Product ' || i ${upTo(products)}`,
    'colour (service_id, product_id, colour_id)': sql`
      select ${service}, 'p' || i, 'black' ${upTo(products)}`,
    'variant (service_id, sku_id, product_id, colour_id, sku, size_code, original_price, price)': sql`
      select ${service}, 'k' || i, 'p' || (i + 1) / 2, 'black', 'sku' || i, 'M', 10, 10 ${upTo(2 * products)}`,
    // Each SKU is in all stores.
    'stock (service_id, store_id, sku_id, changed_at, record, free_stock, reserved)': sql`
      select ${service}, 's' || 1 + i % ${stores}::integer, 'k' || (i + ${stores}::integer - 1) / ${stores}::integer,
             ${instant}, left(${buildRecord(160)}, -1) || ',"updateTimeStamp":"2024-01-01 00:00:00"}', i % 50, (i % 10 = 0)::integer ${upTo(scaleCount(24_000))}`,
    // Twenty of them have expired, but no job has ended them.
    'stock_reservation (service_id, id, account, expires_at)': sql`
      select ${service}, i::text, 'u1', now() + (i - 20) * interval '1 hour' ${upTo(scaleCount(2_400))}`,
    'stock_reservation_line (service_id, reservation_id, store_id, sku_id, sequence, quantity, requested)': sql`
      select ${service}, i::text, 's' || 1 + i * 10 % ${stores}::integer, 'k' || (i * 10 + ${stores}::integer - 1) / ${stores}::integer, 1, 1, 1
      ${upTo(scaleCount(2_400))}`,
    'customer (service_id, id, changed_at, record, ecommerce_ids, email, surname, firstname)': sql`
      select ${service}, 'c' || i, ${instant}, left(${buildRecord(500)}, -1), '}', 'c' || i || '@example.com', 'Name' || i % 300, 'F' || i ${upTo(customers)}`,
    'retail_transaction (service_id, id, customer_id, sale_date, changed_at, record)': sql`
      select ${service}, 't' || i, ${pickOne('c', customers)}, (${instant} - interval '1 hour') at time zone 'UTC', ${instant}, ${buildRecord(700)}
      ${upTo(scaleCount(30_000))}`,
    'sales_order (service_id, id, changed_at, placed_at, order_number, customer_id, billing_address, delivery_address, currency, decimals, freight, total)': sql`
      select ${service}, 'o' || i, ${instant}, ${instant} - interval '1 hour', i::text, ${pickOne('c', customers)}, '{}', '{}', 'AUD', 2, 0, 20
      ${upTo(orders)}`,
    'order_line (service_id, order_id, sequence, status, sku_id, sku, product_code, product_name, size_code, quantity, shipped, price, discounts, value)': sql`
      select ${service}, 'o' || (i + 1) / 2, i % 2, 'shipped', 'k' || i, 'sku' || i, 'code' || i, 'Product ' || i, 'M', 1, 1, 10, '[]', 10
      ${upTo(2 * orders)}`,
    'order_payment (service_id, order_id, sequence, gateway, amount)': sql`
      select ${service}, 'o' || i, 0, 'visa', 20 ${upTo(orders)}`,
    'upstream_voucher_sale (service_id, order_number, amount, currency)': sql`
      select ${service}, 'v' || i, 50, 'AUD' ${upTo(scaleCount(8_000))}`,
    'sales_return (service_id, id, changed_at, created_at, order_id, return_number, authorisation_number, status, restock)': sql`
      select ${service}, 'r' || i, ${instant}, ${instant}, ${pickOne('o', orders)}, i::text, i::text, 'received', true ${upTo(returns)}`,
    'shipment (service_id, id, changed_at, order_id, source_key, tracking_number, lines)': sql`
      select ${service}, 's' || i, ${instant}, ${pickOne('o', orders)}, i::text, i::text, '[]' ${upTo(returns)}`,
    'return_line (service_id, return_id, sequence, order_id, order_sequence, quantity, value, reason_code)': sql`
      select ${service}, 'r' || i, 0, ${pickOne('o', orders)}, 0, 1, 10, 'size' ${upTo(returns)}`,
    'audit (service_id, id, changed_at, record)': sql`
      select ${service}, 'a' || i, ${instant}, json_build_object('subject', '/customers/' || i % 500, 'username', 'u' || i % 20, 'text', repeat('x', 200))::text ${upTo(scaleCount(8_000))}`,
    'mapping_check (service_id, kind, changed_at)': sql`
      select ${service}, kind, now() from unnest(array['stores', 'skus', 'customers']) kind`,
    'ecommerce_item (service_id, kind, item_key, ecommerce_id, seen_at)': sql`
      select ${service}, kind, 'e' || i, 'e' || i, now() ${upTo(scaleCount(2_000))}, unnest(array['stores', 'skus', 'customers']) kind`,
    'ecommerce_connection (service_id, connection_id, driver, url, client_id, encrypted_secret, api_version)': sql`
      select ${service}, 'main', 'shopify', 'https://shop.example', 'id', '', '2026-10'`,
    'ecommerce_item (service_id, kind, item_key, ecommerce_id, seen_at, connection_id, platform_id, inventory_item_id)': sql`
      select ${service}, 'skus', 'n' || i, 'sku' || i, now(), 'main', 'v' || i, 'i' || i ${upTo(scaleCount(2_000))}
      union all select ${service}, 'stores', 'n' || i, 'l' || i, now(), 'main', 'l' || i, null ${upTo(20)}`,
    'ecommerce_level (service_id, connection_id, item_id, location_id, known_on_hand, due_at, due_rank, hold_reason)': sql`
      select ${service}, 'main', 'i' || i / 20, 'l' || i % 20, 5, case when i % 7 = 0 then now() end, case when i % 7 = 0 then 1 end,
             case when i % 7 = 1 then 'unmapped' end ${upTo(scaleCount(12_000))}`,
    'ecommerce_commitment (service_id, connection_id, order_id, line_id, item_id, location_id, units, confirmed_at)': sql`
      select ${service}, 'main', 'p' || i, 'l1', 'i' || i / 20, 'l' || i % 20, 1, now() ${upTo(scaleCount(4_000))}`,
    'ecommerce_reconciliation (service_id, connection_id, reconciliation_id, started_at, state, is_dry_run)': sql`
      select ${service}, 'main', 'r' || i, now() - i * interval '1 minute', 'completed', false ${upTo(scaleCount(2_000))}`,
    'ecommerce_drift (service_id, connection_id, reconciliation_id, item_id, location_id, known_on_hand, observed_on_hand)': sql`
      select ${service}, 'main', ${pickOne('r', 10)}, 'i' || i, 'l' || i % 20, 5, 4 ${upTo(scaleCount(8_000))}`,
    'mapping_issue (service_id, kind, side, id, state, units_sold)': sql`
      select ${service}, kind, 'here', left(kind, 1) || i, case when i % 3 = 0 then 'unmapped' else 'matched' end, i % 100
      ${upTo(scaleCount(3_000))}, unnest(array['stores', 'skus', 'customers']) kind`,
    'mapping_fix (service_id, fix_id, changed_at, kind, record_id, before, after, username, request_id)': sql`
      select ${service}, 'x' || i, ${recentInstant}, 'skus', 'k' || i, '{}', '{}', 'u1', 'r1' ${upTo(scaleCount(2_000))}`,
    'alert (service_id, kind, subject, detail, begun_at, changed_at)': sql`
      select ${service}, 'email_failed', i::text, 'rejected', ${instant}, ${instant} ${upTo(scaleCount(2_000))}`,
    'request_block (service_id, second, block_id, marks, lines)': sql`
      select ${service}, date_trunc('second', now() - (hashint4(i)::bigint + 2147483648) / 4294967296.0 * interval '6 days'), i::text,
             sha256(int4send(i)) || sha256(int4send(-i)),
             json_build_array(i % 1000, 'r' || i, ${pickOne('u', 20)}, 'GET /customers/:id', '/customers/' || i % 500, null,
               case when i % 50 = 0 then 404 else 200 end, case when i % 50 = 0 then 'not_found' end, null, 50, 2, 10, '[]'::json)::text
      ${upTo(scaleCount(30_000))}`,
    'sync_run (service_id, sync, run_id, changed_at, ended_at, is_full, read)': sql`
      select ${service}, ${pickOne('sync', 8)}, i::text, ${instant}, ${instant}, false, i ${upTo(scaleCount(8_000))}`,
    'reward_program (service_id, program_id, name)': sql`select ${service}, '1', 'Rewards'`,
    'reward_account (service_id, id, changed_at, customer_id, program_id)': sql`
      select ${service}, 'm' || i, ${instant}, 'c' || i, '1' ${upTo(scaleCount(5_000))}`,
    'reward_lot (service_id, account_id, kind, lot_id, created_at, total)': sql`
      select ${service}, 'm' || (i + 1) / 2, 'points', i::text, '2024-01-01', 10 ${upTo(scaleCount(10_000))}`,
    'tombstone (service_id, kind, id, changed_at)': sql`
      select ${service}, kind, 'gone' || i, ${instant} ${upTo(scaleCount(2_000))}, unnest(array['customer', 'inventory', 'product']) kind`,
    // Rows of other services: their purges and their initial loads.
    'tombstone_purge (service_id, kind, purged_until)': sql`select ${service} * 10000 + i, 'customer', now() ${upTo(scaleCount(1_000))}`,
    'initial_load (service_id, kind)': sql`select ${service} * 10000 + i, 'customer' ${upTo(scaleCount(1_000))}`,
  }
  // One partition for all times, because the names of daily partitions would change the plans.
  await db.run(
    sql`create table if not exists request_block_whole partition of request_block for values from (minvalue) to (maxvalue)`,
  )
  await db.transaction(async tx => {
    // The rows are generated consistently, so foreign keys need no check.
    await tx.run(sql`set local session_replication_role = replica`)
    for (const [columns, source] of Object.entries(rows)) await tx.run(sql`insert into ${raw(columns)} ${source}`)
  })
}
