import { setTimeout as delay } from 'node:timers/promises'
import { type Database, type Sql, sql } from '../../database/db.ts'
import { pastContention } from '../../database/pg/contention.ts'
import { type MappedKind, mappedKinds } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { holdJudgement, judgeHere, judgeThere } from './check-changed.ts'
import { isKept } from './fixes.ts'
import { sides, unitsIn } from './sides.ts'

/** Records of a portion. */
const recordsAtOnce = 1_000
const salesAtOnce = 5_000

interface Judging {
  /** Hears what is being done, and how much of it is done. */
  onPortion?: (progress: { what: string; done: number }) => void
  signal?: AbortSignal | undefined
  /** Leaves the database to others for half of the time. */
  isPatient?: boolean
}

/**
 * Compares all that a service has mapped with what the e-commerce platform has, a thousand records in a transaction. Whoever is killed
 * is gone on with by beginning anew: what is found a second time is not written again.
 */
export async function judgeMappings(db: Database, service: Service, judging: Judging = {}): Promise<void> {
  const { signal, onPortion = () => {}, isPatient = false } = judging
  const paced = async <T>(work: () => Promise<T>) => {
    signal?.throwIfAborted()
    const began = performance.now()
    const done = await work()
    if (isPatient) await delay(performance.now() - began, undefined, { signal })
    return done
  }
  await beginJudgement(db, service)
  await countSales(db, service, paced, done => onPortion({ what: 'sales', done }))
  const stock = await countStock(db, service, paced, done => onPortion({ what: 'stores counted', done }))
  for (const kind of mappedKinds) {
    const tell = (done: number) => onPortion({ what: kind, done })
    const { table, key } = sides[kind]
    const here = await walk(db, service, { kind, side: 'here', table, key, where: sql``, stock }, paced, tell)
    const there = { table: sql`ecommerce_item`, key: sql`ecommerce_id`, where: sql`and kind = ${kind}`, stock }
    await walk(db, service, { kind, side: 'there', ...there }, paced, done => tell(here + done))
    await db.run(sql`
      insert into mapping_judgement (service_id, kind, changed_at) values (${service.id}, ${kind}, now())
      on conflict (service_id, kind) do update set changed_at = excluded.changed_at`)
  }
  await db.run(sql`update mapping_judgement set (judged, to_judge) = row(0, 0) where service_id = ${service.id}`)
  await db.run(sql`delete from mapping_fix where service_id = ${service.id} and not ${isKept}`)
}

/** Writes down how much there is to be judged. */
async function beginJudgement(db: Database, service: Service) {
  for (const kind of mappedKinds)
    await db.run(sql`
      insert into mapping_judgement (service_id, kind, to_judge)
      select ${service.id}, ${kind}, (select count(*) from ${sides[kind].table} where service_id = ${service.id})
             + (select count(distinct ecommerce_id) from ecommerce_item where service_id = ${service.id} and kind = ${kind})
      on conflict (service_id, kind) do update set (judged, to_judge) = row(0, excluded.to_judge)`)
}

type Paced = <T>(work: () => Promise<T>) => Promise<T>

interface Walk {
  kind: MappedKind
  side: 'here' | 'there'
  table: Sql
  key: Sql
  /** Begins with `and`. */
  where: Sql
  /** Units of stores, as JSON. */
  stock: string
}

/** Judges all records of one side in the order of their identifiers, and forgets what was found of those that are gone. */
async function walk(
  db: Database,
  service: Service,
  { kind, side, table, key, where, stock }: Walk,
  paced: Paced,
  onPortion: (done: number) => void,
) {
  let done = 0
  for (let last = '', isMore = true; isMore; ) {
    const ids = await paced(() =>
      pastContention(() =>
        db.transaction(async tx => {
          await holdJudgement(tx, service, kind)
          const rows = await tx.rows<{ id: string }>(sql`
            select distinct ${key} as id from ${table} where service_id = ${service.id} ${where} and ${key} > ${last}
             order by ${key} limit ${recordsAtOnce}`)
          const ids = rows.map(({ id }) => id)
          const end = ids.length < recordsAtOnce ? null : ids.at(-1)
          await tx.run(sql`
            delete from mapping_finding
             where service_id = ${service.id} and kind = ${kind} and side = ${side} and id > ${last}
               and (${end}::text is null or id <= ${end}) and not id = any(${ids})`)
          if (side === 'here') await judgeHere(tx, service, kind, ids, stock)
          else await judgeThere(tx, service, kind, ids)
          await tx.run(
            sql`update mapping_judgement set judged = judged + ${ids.length} where service_id = ${service.id} and kind = ${kind}`,
          )
          return ids
        }),
      ),
    )
    isMore = ids.length === recordsAtOnce
    last = ids.at(-1) ?? last
    done += ids.length
    onPortion(done)
  }
  return done
}

/** Units in stock by store, as JSON: counted while nothing is held, since a store may have a hundred thousand SKUs. */
async function countStock(db: Database, service: Service, paced: Paced, onPortion: (done: number) => void) {
  const units: Record<string, string> = {}
  const stores = await db.rows<{ id: string }>(sql`select store_id as id from store where service_id = ${service.id}`)
  for (const [i, { id }] of stores.entries()) {
    const found = await paced(() =>
      db.row<{ units: string }>(sql`
        select (${unitsIn(sql`s`)})::text as units from store s where service_id = ${service.id} and store_id = ${id}`),
    )
    if (found) units[id] = found.units
    onPortion(i + 1)
  }
  return JSON.stringify(units)
}

/** Counts what was sold in 90 days, by store, SKU and customer. */
async function countSales(db: Database, service: Service, paced: Paced, onPortion: (done: number) => void) {
  const began = await db.row<{ at: string; since: string }>(sql`
    select now()::text as at, (now() at time zone ${service.settings.timeZone} - interval '90 days')::text as since`)
  if (!began) throw new Error('a select without a table answers one row')
  let done = 0
  let after: { saleDate: string; id: string } | undefined = { saleDate: began.since, id: '' }
  while (after) {
    const from: { saleDate: string; id: string } = after
    const portion = await paced(() =>
      pastContention(() =>
        db.row<{ sales: number; saleDate: string | null; id: string | null }>(sql`
          with portion as materialized (
            select sale_date, id, customer_id, record::json as told from retail_transaction
             where service_id = ${service.id} and (sale_date, id) > (${from.saleDate}::timestamp, ${from.id}) order by sale_date, id limit ${salesAtOnce}
          ), units as (
            select u.kind, u.name, sum((l->>'quantity')::numeric) as units
              from portion cross join json_array_elements(told->'lines') l
             cross join lateral (values ('stores', told->>'storeNumber'), ('skus', l->>'sku'), ('customers', customer_id)) u (kind, name)
             where u.name is not null group by 1, 2
          ), counted as (
            insert into recent_sale as r (service_id, kind, name, units, counted_at)
            select ${service.id}, kind, name, units, ${began.at}::timestamptz from units order by kind, name
            on conflict (service_id, kind, name) do update
               set (units, counted_at) = row(case when r.counted_at = excluded.counted_at then r.units else 0 end + excluded.units, excluded.counted_at)
             -- Of two who count at a time the later one has the word.
             where r.counted_at <= excluded.counted_at
          )
          select (select count(*)::integer from portion) as sales, newest.sale_date::text as "saleDate", newest.id
            from (values (1)) one left join (select sale_date, id from portion order by sale_date desc, id desc limit 1) newest on true`),
      ),
    )
    done += portion?.sales ?? 0
    onPortion(done)
    after =
      portion?.sales === salesAtOnce && portion.saleDate !== null && portion.id !== null
        ? { saleDate: portion.saleDate, id: portion.id }
        : undefined
  }
  await db.run(sql`delete from recent_sale where service_id = ${service.id} and counted_at < ${began.at}::timestamptz`)
}
