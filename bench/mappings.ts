import { raw, type Sql, sql } from '../src/database/db.ts'
import type { Service } from '../src/domain/tenancy/service-settings.ts'
import { addAccount } from '../src/store/accounts/accounts.ts'
import { checkMappings } from '../src/store/mappings/check-all.ts'
import { addService } from '../src/store/tenancy/services.ts'
import type { Bench } from './rig/bench.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { formatTenths, formatWhole, getMedian, type Section } from './rig/report.ts'
import { createClient } from './writes/client.ts'

const name = 'bench-mappings'
const stores = 20
const skus = 100_000
const customers = 100_000
const sales = 200_000
/** Maximum milliseconds for the console's page and for a fix. */
const maxMs = 100

/** Measures the mapping check, the pages that show its issues, and fixes. */
export async function measureMappings(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const { db, keys } = loaded
  await db.run(sql`delete from service where name = ${name}`)
  const service = await addService(db, name, { currency: 'AUD', readsPerMinute: 'off', writesPerMinute: 'off' })
  const password = service && (await addAccount(db, keys, name, service, 'admin'))
  if (!service || !password) throw new Error(`the service or the account ${name} already exists`)
  bench.say(`  ${formatWhole(stores * skus)} rows of stock`)
  await fillService(loaded, service)
  const running = await startService(bench.directory, { DATABASE_URL: loaded.url, RUN_JOBS: 'false' })
  const client = createClient(running, name, password)
  try {
    const checks: [label: string, seconds: number][] = []
    for (const label of ['first check', 'repeated without changes']) {
      bench.say(`  mapping check, ${label}`)
      const began = performance.now()
      await checkMappings(db, service)
      checks.push([label, (performance.now() - began) / 1_000])
    }
    await db.run(sql`analyze mapping_issue`)
    const requests: [label: string, send: (round: number) => Promise<unknown>][] = [
      ['summary of the check', () => client.read('/mappings/check')],
      ['a page of issues', () => client.read('/mappings/issues/skus?state=nearMatch&limit=50')],
      ['map a SKU', round => sendFix(client, 'skus', `k${round * 3 + 1}`, `S${round * 3 + 1}`)],
      ['map a store to the shared location', round => sendFix(client, 'stores', `s${round + 1}`, 'all')],
      ['map a store to its own location', round => sendFix(client, 'stores', `s${round + 1}`, `own${round}`)],
    ]
    const times: [label: string, ms: number][] = []
    for (const [label, send] of requests) {
      bench.say(`  ${label}`)
      const durations = []
      for (let round = 0; round < bench.rounds; round++) {
        const began = performance.now()
        await send(round)
        durations.push(performance.now() - began)
      }
      times.push([label, getMedian(durations)])
    }
    return {
      title: 'The mapping check',
      about: `A service with ${formatWhole(skus)} SKUs, which have stock in each of ${stores} stores. The stores share one location of the platform. It has ${formatWhole(customers)} customers and ${formatWhole(sales)} sales of 90 days. A third of the SKUs and customers are mapped, and a third have near matches. Requests run one at a time; the median of ${bench.rounds}.`,
      tables: [
        {
          caption: 'Check of all mappings',
          head: ['which', 'seconds'],
          rows: checks.map(([label, s]) => [label, formatTenths(s)]),
        },
        { caption: 'Requests', head: ['request', 'ms'], rows: times.map(([label, ms]) => [label, formatTenths(ms)]) },
      ],
      targets: times.map(([label, ms]) => ({
        label,
        expected: `≤ ${maxMs} ms`,
        actual: `${formatWhole(ms)} ms`,
        met: ms <= maxMs,
      })),
    }
  } finally {
    client.end()
    await running.stop()
    await db.run(sql`delete from service where name = ${name}`)
  }
}

const sendFix = (client: ReturnType<typeof createClient>, kind: string, id: string, to: string) =>
  client.write('POST', '/mappings/fixes', { kind, id, to })

/** Inserts the rows that imports would leave, as far as the mapping check reads them. */
export async function fillService({ db }: LoadedDatabase, { id }: Service) {
  const service = sql`${id}::integer`
  const upTo = (count: number) => sql`from generate_series(1, ${count}::integer) i`
  const day = sql`(now() - i % 89 * interval '1 day') at time zone 'UTC'`
  const rows: Record<string, Sql> = {
    'store (service_id, store_id, changed_at, record, store_number, name, ecommerce_location_id)': sql`
      select ${service}, 's' || i, now(), '{}', i::text, 'Store ' || i, 'all' ${upTo(stores)}`,
    'product (service_id, product_id, changed_at, record, product_code, name)': sql`
      select ${service}, 'p' || i, now(), '{}', 'code' || i, 'Product ' || i ${upTo(skus / 10)}`,
    'colour (service_id, product_id, colour_id)': sql`select ${service}, 'p' || i, 'black' ${upTo(skus / 10)}`,
    'variant (service_id, sku_id, product_id, colour_id, sku, size_code, original_price, price, barcode)': sql`
      select ${service}, 'k' || i, 'p' || 1 + (i - 1) / 10, 'black', (array['S', 's', 'k'])[1 + i % 3] || i, 'M', 10, 10, '93' || i ${upTo(skus)}`,
    'stock (service_id, store_id, sku_id, changed_at, record, free_stock)': sql`
      select ${service}, 's' || s, 'k' || i, now(), json_build_object('id', 's' || s || '-' || i, 'text', repeat('x', 200))::text, i % 50
      ${upTo(skus)}, generate_series(1, ${stores}::integer) s`,
    'customer (service_id, id, changed_at, record, ecommerce_ids, email, ecommerce_legacy_id)': sql`
      select ${service}, 'c' || i, now(), '{', '}', 'c' || i || '@example.com', case when i % 3 = 0 then i::text end ${upTo(customers)}`,
    'retail_transaction (service_id, id, customer_id, sale_date, changed_at, record)': sql`
      select ${service}, 't' || i, 'c' || 1 + i % ${customers}::integer, ${day}, now(),
             json_build_object('storeNumber', (1 + i % ${stores}::integer)::text, 'lines', json_build_array(
               json_build_object('sku', 'k' || 1 + i % ${skus}::integer, 'quantity', 1),
               json_build_object('sku', 'k' || 1 + i * 7 % ${skus}::integer, 'quantity', 2)))::text
      ${upTo(sales)}`,
    'mapping_check (service_id, kind, listed_at)': sql`
      select ${service}, kind, now() from unnest(array['stores', 'skus', 'customers']) kind`,
    'ecommerce_item (service_id, kind, item_key, ecommerce_id, name, other, seen_at)': sql`
      select ${service}, 'skus', i::text, 'S' || i, 'Product: ' || i, null::text, now() ${upTo(skus)}
      union all select ${service}, 'customers', i::text, i::text, null, 'C' || i || '@example.com', now() ${upTo(customers)} where i % 3 < 2
      union all select ${service}, 'stores', i::text, (array['all', 'own' || i])[1 + (i > 1)::integer], 'Location ' || i, null, now() ${upTo(stores)}`,
  }
  await db.transaction(async tx => {
    // The rows are generated consistently, so foreign keys need no check.
    await tx.run(sql`set local session_replication_role = replica`)
    for (const [columns, source] of Object.entries(rows)) await tx.run(sql`insert into ${raw(columns)} ${source}`)
  })
  await db.run(sql`analyze`)
}
