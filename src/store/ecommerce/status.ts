import { type Db, sql } from '../../database/db.ts'
import { mainConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

const ofConnection = ({ id }: Service) => sql`service_id = ${id} and connection_id = ${mainConnection}`

/** The state of a level. */
const state = sql`
  case when idempotency_key is not null then 'inFlight' when due_at is not null then 'due' when hold_reason is not null then 'held' else 'inStep' end`

/** The counts of the levels of a service. */
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
           (select count(*) from ecommerce_commitment where ${ofConnection(service)})::integer as "openCommitments"
      from (select ${state} as state, case when due_at is null then hold_reason end as reason, count(*) as n, min(due_at) as oldest
              from ecommerce_level where ${ofConnection(service)} group by 1, 2) s`)) ?? {
    due: 0,
    held: [],
    inFlight: 0,
    inStep: 0,
    lagSeconds: 0,
    openCommitments: 0,
  }

/** Counts of all services with a stock push, for metrics. */
export const readPushStats = (db: Db) =>
  db.rows<{ service: string; due: number; held: number; lagSeconds: number; drift: number; points: number | null }>(sql`
    select s.name as service, coalesce(l.due, 0)::integer as due, coalesce(l.held, 0)::integer as held, coalesce(l.lag, 0)::integer as "lagSeconds",
           coalesce((select (r.counts->>'drifted')::integer from ecommerce_reconciliation r
                      where (r.service_id, r.connection_id) = (c.service_id, c.connection_id) and r.state = 'completed' order by r.started_at desc limit 1), 0) as drift,
           (select floor(orders_points + stock_points + background_points) from ecommerce_budget b where (b.service_id, b.connection_id) = (c.service_id, c.connection_id)) as points
      from ecommerce_connection c
      join service s using (service_id)
     cross join lateral (
       select count(*) filter (where due_at is not null) as due, count(*) filter (where hold_reason is not null and due_at is null) as held,
              floor(extract(epoch from now() - min(due_at))) as lag
         from ecommerce_level e where (e.service_id, e.connection_id) = (c.service_id, c.connection_id) and (due_at is not null or hold_reason is not null)) l
     where c.settings->>'stockPush' in ('dryRun', 'on') order by 1`)
