import { type Db, type Sql, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import { mainConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { LevelState } from '../../domain/ecommerce/ecommerce-status.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { filter, type PageRequest, readPage } from '../lists/page.ts'
import { type NettingRules, selectFacts } from './levels.ts'
import { isInMainConnection } from './main-connection.ts'
import { reconciliationTimes } from './reconciliations.ts'

const state = sql`
  case when idempotency_key is not null then 'inFlight' when due_at is not null then 'due' when hold_reason is not null then 'held' else 'inStep' end`

interface LevelCounts {
  due: number
  held: { reason: string; levels: number }[]
  inFlight: number
  inStep: number
  lagSeconds: number
  openCommitments: number
}

/** Counts the levels of a service by state and reason. */
export const countLevels = async (db: Db, service: Service): Promise<LevelCounts> =>
  (await db.row<LevelCounts>(sql`
    select coalesce(sum(n) filter (where state = 'due'), 0)::integer as due, coalesce(sum(n) filter (where state = 'inFlight'), 0)::integer as "inFlight",
           coalesce(sum(n) filter (where state = 'inStep'), 0)::integer as "inStep",
           coalesce(json_agg(json_build_object('reason', reason, 'levels', n) order by reason) filter (where state = 'held'), '[]') as held,
           coalesce(floor(extract(epoch from now() - min(oldest))), 0)::integer as "lagSeconds",
           (select count(*) from ecommerce_commitment where ${isInMainConnection(service)})::integer as "openCommitments"
      from (select ${state} as state, case when due_at is null then hold_reason end as reason, count(*) as n, min(due_at) as oldest
              from ecommerce_level where ${isInMainConnection(service)} group by 1, 2) s`)) ?? {
    due: 0,
    held: [],
    inFlight: 0,
    inStep: 0,
    lagSeconds: 0,
    openCommitments: 0,
  }

/** The record (`PlatformLevel`) of a row of `ecommerce_level`. */
const levelRecord = (service: Service, rules: NettingRules) => sql`
  (select row_to_json(r)::text from (select
     "itemId", "locationId", sku, ${state} as state, hold_reason as reason, "knownOnHand", sellable + netted + "heldBack" as "desiredOnHand", sellable, netted, "heldBack",
     observed_on_hand as "observedOnHand", observed_committed as "observedCommitted", ${rfc3339(sql`observed_at`)} as "observedAt", ${rfc3339(sql`due_at`)} as "dueSince"
     from (${selectFacts(service, sql`(select ecommerce_level.item_id, ecommerce_level.location_id) k`, rules)}) f) r)`

/** The condition of each state, in the form of a partial index if there is one. */
const conditions: Record<LevelState, Sql> = {
  inFlight: sql`and idempotency_key is not null`,
  due: sql`and due_at is not null and idempotency_key is null`,
  held: sql`and hold_reason is not null and due_at is null and idempotency_key is null`,
  inStep: sql`and hold_reason is null and due_at is null and idempotency_key is null`,
}

interface LevelFilter {
  state?: LevelState
  reason?: string
  itemId?: string
}

/** Returns a page of `PlatformLevel`s, by item and location. */
export const readLevelPage = (
  db: Db,
  service: Service,
  rules: NettingRules,
  { state: requestedState, reason, itemId }: LevelFilter,
  page: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: sql`ecommerce_level`,
      timestampSource: reconciliationTimes,
      record: levelRecord(service, rules),
      order: { column: sql`item_id`, type: 'text' },
      key: sql`location_id`,
      live: true,
      where: sql`
        and connection_id = ${mainConnection} ${filter(requestedState, value => conditions[value])}
        ${filter(reason, value => sql`and hold_reason = ${value}`)} ${filter(itemId, value => sql`and item_id = ${value}`)}`,
    },
    page,
  )

/** Counts of all services with a stock push, for metrics. */
export const readPushStats = (db: Db) =>
  db.rows<{
    service: string
    due: number
    held: number
    lagSeconds: number
    drift: number
    points: number | null
    throttled: number | null
  }>(sql`
    select s.name as service, coalesce(l.due, 0)::integer as due, coalesce(l.held, 0)::integer as held, coalesce(l.lag, 0)::integer as "lagSeconds",
           coalesce((select (r.counts->>'drifted')::integer from ecommerce_reconciliation r
                      where (r.service_id, r.connection_id) = (c.service_id, c.connection_id) and r.state = 'completed' and not r.is_partial order by r.started_at desc limit 1), 0) as drift,
           (select floor(orders_points + stock_points + background_points) from ecommerce_budget b where (b.service_id, b.connection_id) = (c.service_id, c.connection_id)) as points,
           (select throttled::float8 from ecommerce_budget b where (b.service_id, b.connection_id) = (c.service_id, c.connection_id)) as throttled
      from ecommerce_connection c
      join service s using (service_id)
     cross join lateral (
       select count(*) filter (where due_at is not null) as due, count(*) filter (where hold_reason is not null and due_at is null) as held,
              floor(extract(epoch from now() - min(due_at))) as lag
         from ecommerce_level e where (e.service_id, e.connection_id) = (c.service_id, c.connection_id) and (due_at is not null or hold_reason is not null)) l
     where c.settings->>'stockPush' in ('dryRun', 'on') order by 1`)
