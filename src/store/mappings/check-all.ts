import { setTimeout as delay } from 'node:timers/promises'
import { type Database, type Sql, sql } from '../../database/db.ts'
import { retryOnContention } from '../../database/pg/contention.ts'
import { type MappedKind, mappedKinds } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { materialized } from '../lists/planner-fences.ts'
import { checkPlatformItems, checkRecords, lockMappingCheck } from './check-changed.ts'
import { isKept } from './fixes.ts'
import { sides, unitsIn } from './sides.ts'

/** Records per transaction. */
const batchSize = 1_000
const salesBatchSize = 5_000

interface CheckOptions {
  /** Called after each batch with the stage and the number of processed items. */
  onProgress?: (progress: { label: string; done: number }) => void
  signal?: AbortSignal | undefined
  /** Pauses after each batch for as long as the batch took, so that other work gets half of the time. */
  isThrottled?: boolean
}

/**
 * Compares all mappings of a service with the platform items, a thousand records per transaction. If the process dies, the next run
 * starts again: unchanged issues are not rewritten.
 */
export async function checkMappings(db: Database, service: Service, options: CheckOptions = {}): Promise<void> {
  const { signal, onProgress = () => {}, isThrottled = false } = options
  const runPaced = async <T>(work: () => Promise<T>) => {
    signal?.throwIfAborted()
    const start = performance.now()
    const done = await work()
    if (isThrottled) await delay(performance.now() - start, undefined, { signal })
    return done
  }
  await startCheck(db, service)
  await countSales(db, service, runPaced, done => onProgress({ label: 'sales', done }))
  const stock = await countStock(db, service, runPaced, done => onProgress({ label: 'stores counted', done }))
  for (const kind of mappedKinds) {
    const report = (done: number) => onProgress({ label: kind, done })
    const { table, key } = sides[kind]
    const recordCount = await checkSide(
      db,
      service,
      { kind, side: 'here', table, key, where: sql``, stock },
      runPaced,
      report,
    )
    const items = { table: sql`ecommerce_item`, key: sql`ecommerce_id`, where: sql`and kind = ${kind}`, stock }
    await checkSide(db, service, { kind, side: 'there', ...items }, runPaced, done => report(recordCount + done))
    await db.run(sql`
      insert into mapping_check (service_id, kind, changed_at) values (${service.id}, ${kind}, now())
      on conflict (service_id, kind) do update set changed_at = excluded.changed_at`)
  }
  await db.run(sql`update mapping_check set (checked, to_check) = row(0, 0) where service_id = ${service.id}`)
  await db.run(sql`delete from mapping_fix where service_id = ${service.id} and not ${isKept}`)
}

/** Stores the number of records and platform items to check. */
async function startCheck(db: Database, service: Service) {
  for (const kind of mappedKinds)
    await db.run(sql`
      insert into mapping_check (service_id, kind, to_check)
      select ${service.id}, ${kind}, (select count(*) from ${sides[kind].table} where service_id = ${service.id})
             + (select count(distinct ecommerce_id) from ecommerce_item where service_id = ${service.id} and kind = ${kind})
      on conflict (service_id, kind) do update set (checked, to_check) = row(0, excluded.to_check)`)
}

type RunPaced = <T>(work: () => Promise<T>) => Promise<T>

interface CheckedSide {
  kind: MappedKind
  /** `here`: our records. `there`: the items of the platform. */
  side: 'here' | 'there'
  table: Sql
  key: Sql
  /** Begins with `and`. */
  where: Sql
  /** Units of stores, as JSON. */
  stock: string
}

/** Checks all records of one side in the order of their IDs, and deletes the issues of records that no longer exist. */
async function checkSide(
  db: Database,
  service: Service,
  { kind, side, table, key, where, stock }: CheckedSide,
  runPaced: RunPaced,
  onProgress: (done: number) => void,
) {
  let done = 0
  for (let last = '', isMore = true; isMore; ) {
    const ids = await runPaced(() =>
      retryOnContention(() =>
        db.transaction(async tx => {
          await lockMappingCheck(tx, service, kind)
          const rows = await tx.rows<{ id: string }>(sql`
            select distinct ${key} as id from ${table} where service_id = ${service.id} ${where} and ${key} > ${last}
             order by ${key} limit ${batchSize}`)
          const batchIds = rows.map(({ id }) => id)
          const end = batchIds.length < batchSize ? null : batchIds.at(-1)
          await tx.run(sql`
            delete from mapping_issue
             where service_id = ${service.id} and kind = ${kind} and side = ${side} and id > ${last}
               and (${end}::text is null or id <= ${end}) and not id = any(${batchIds})`)
          if (side === 'here') await checkRecords(tx, service, kind, batchIds, stock)
          else await checkPlatformItems(tx, service, kind, batchIds)
          await tx.run(
            sql`update mapping_check set checked = checked + ${batchIds.length} where service_id = ${service.id} and kind = ${kind}`,
          )
          return batchIds
        }),
      ),
    )
    isMore = ids.length === batchSize
    last = ids.at(-1) ?? last
    done += ids.length
    onProgress(done)
  }
  return done
}

/** Returns the units in stock by store, as JSON. Counted without locks, because a store can have a hundred thousand SKUs. */
async function countStock(db: Database, service: Service, runPaced: RunPaced, onProgress: (done: number) => void) {
  const units: Record<string, string> = {}
  const stores = await db.rows<{ id: string }>(sql`select store_id as id from store where service_id = ${service.id}`)
  for (const [i, { id }] of stores.entries()) {
    const stored = await runPaced(() =>
      db.row<{ units: string }>(sql`
        select (${unitsIn(sql`s`)})::text as units from store s where service_id = ${service.id} and store_id = ${id}`),
    )
    if (stored) units[id] = stored.units
    onProgress(i + 1)
  }
  return JSON.stringify(units)
}

/** Counts the units sold in 90 days by store, SKU and customer. */
async function countSales(db: Database, service: Service, runPaced: RunPaced, onProgress: (done: number) => void) {
  const start = await db.row<{ at: string; since: string }>(sql`
    select now()::text as at, (now() at time zone ${service.settings.timeZone} - interval '90 days')::text as since`)
  if (!start) throw new Error('select now() returned no row')
  let done = 0
  let after: { saleDate: string; id: string } | undefined = { saleDate: start.since, id: '' }
  while (after) {
    const from: { saleDate: string; id: string } = after
    const batch = await runPaced(() =>
      retryOnContention(() =>
        db.row<{ sales: number; saleDate: string | null; id: string | null }>(sql`
          with batch as ${materialized(sql`
            select sale_date, id, customer_id, record::json as sale from retail_transaction
             where service_id = ${service.id} and (sale_date, id) > (${from.saleDate}::timestamp, ${from.id}) order by sale_date, id limit ${salesBatchSize}`)}, units as (
            select u.kind, u.name, sum((l->>'quantity')::numeric) as units
              from batch cross join json_array_elements(sale->'lines') l
             cross join lateral (values ('stores', sale->>'storeNumber'), ('skus', l->>'sku'), ('customers', customer_id)) u (kind, name)
             where u.name is not null group by 1, 2
          ), counted as (
            insert into recent_sale as r (service_id, kind, name, units, counted_at)
            select ${service.id}, kind, name, units, ${start.at}::timestamptz from units order by kind, name
            on conflict (service_id, kind, name) do update
               set (units, counted_at) = row(case when r.counted_at = excluded.counted_at then r.units else 0 end + excluded.units, excluded.counted_at)
             -- If two checks count at the same time, the later one wins.
             where r.counted_at <= excluded.counted_at
          )
          select (select count(*)::integer from batch) as sales, newest.sale_date::text as "saleDate", newest.id
            from (values (1)) one left join (select sale_date, id from batch order by sale_date desc, id desc limit 1) newest on true`),
      ),
    )
    done += batch?.sales ?? 0
    onProgress(done)
    after =
      batch?.sales === salesBatchSize && batch.saleDate !== null && batch.id !== null
        ? { saleDate: batch.saleDate, id: batch.id }
        : undefined
  }
  await db.run(sql`delete from recent_sale where service_id = ${service.id} and counted_at < ${start.at}::timestamptz`)
}
