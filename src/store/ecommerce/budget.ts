import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The priority classes of calls, highest first, each with its share of the capacity and of the restored points. */
const shares = { orders: 0.4, stock: 0.45, background: 0.15 } as const
export type PriorityClass = keyof typeof shares

/** The points that the platform reported with a response. */
export interface ThrottleStatus {
  maximumAvailable: number
  currentlyAvailable: number
  restoreRate: number
}

/** The smallest rate limit of the platform: the budget of a connection before its first response. */
const initialCapacity = 2_000
const initialRestorePerSecond = 100

/**
 * SQL for the current points of each class in rows of `budget`. Restored points are divided by the shares. A full class's points flow to the
 * others, highest priority first.
 * Columns: `r` is the points restored since `measured_at`. `o`, `s` and `b` are the points of orders, stock and background. `o0` includes the
 * share of `r`, `o1` is capped at the capacity of the class, and `o2` includes points that flowed to it. `f1` and `f2` are still to flow.
 */
const restore = (budget: Sql) => sql`
  (select b.service_id, b.connection_id, b.capacity, b.restore_per_second,
          o2 as orders, s2 as stock, least(b1 + f2 - (s2 - s1), ${shares.background}::float8 * b.capacity) as background, t.at
     from ${budget} b
    cross join lateral (select clock_timestamp() as at) t
    cross join lateral (select b.restore_per_second * greatest(extract(epoch from t.at - b.measured_at), 0)::float8 as r) e
    cross join lateral (
      select b.orders_points + ${shares.orders}::float8 * r as o0, b.stock_points + ${shares.stock}::float8 * r as s0,
             b.background_points + ${shares.background}::float8 * r as b0) n
    cross join lateral (
      select least(o0, ${shares.orders}::float8 * b.capacity) as o1, least(s0, ${shares.stock}::float8 * b.capacity) as s1,
             least(b0, ${shares.background}::float8 * b.capacity) as b1) c
    cross join lateral (select o0 - o1 + s0 - s1 + b0 - b1 as f1) f
    cross join lateral (select least(o1 + f1, ${shares.orders}::float8 * b.capacity) as o2) x
    cross join lateral (select f1 - (o2 - o1) as f2) g
    cross join lateral (select least(s1 + f2, ${shares.stock}::float8 * b.capacity) as s2) y)`

/** Creates the budget of a connection, unless it has one. It begins with the smallest rate limit, and full. */
export const createBudget = (db: Db, service: Service, connectionId: string) =>
  db.run(sql`
    insert into ecommerce_budget (service_id, connection_id, capacity, restore_per_second, orders_points, stock_points, background_points, measured_at)
    values (${service.id}, ${connectionId}, ${initialCapacity}::float8, ${initialRestorePerSecond}::float8, ${initialCapacity * shares.orders}::float8,
            ${initialCapacity * shares.stock}::float8, ${initialCapacity * shares.background}::float8, clock_timestamp())
    on conflict do nothing`)

/**
 * Reserves points of a class, in one statement of its own. Returns 0 if they are reserved, otherwise the seconds until they are restored.
 * Returns undefined if the connection has no budget yet.
 */
export async function reservePoints(
  db: Db,
  service: Service,
  connectionId: string,
  priority: PriorityClass,
  points: number,
): Promise<number | undefined> {
  const classColumn = raw(priority)
  // Restores the points of the locked row: without `locked`, calls that wait for it would all use the points before the first one.
  const row = await db.row<{ isGranted: boolean; missing: number; rate: number }>(sql`
    with locked as (
      select * from ecommerce_budget where service_id = ${service.id} and connection_id = ${connectionId} for update),
    present as (select p.*, p.${classColumn} >= ${points}::float8 as granted from ${restore(sql`locked`)} p)
    update ecommerce_budget b
       set orders_points = p.orders - case when p.granted and ${priority} = 'orders' then ${points}::float8 else 0 end,
           stock_points = p.stock - case when p.granted and ${priority} = 'stock' then ${points}::float8 else 0 end,
           background_points = p.background - case when p.granted and ${priority} = 'background' then ${points}::float8 else 0 end,
           measured_at = p.at
      from present p where b.service_id = p.service_id and b.connection_id = p.connection_id
    returning p.granted as "isGranted", ${points}::float8 - p.${classColumn} as missing, p.restore_per_second as rate`)
  if (!row) return
  return row.isGranted ? 0 : row.missing / (row.rate * shares[priority])
}

/** The cost of a call. */
export interface CallCost {
  /** Reserved points that the call did not use. */
  unused: number
  /** The platform's own numbers, if the response had them. */
  status?: ThrottleStatus | undefined
  isThrottled?: boolean
}

/** Gives unused points back to their class. Scales all classes down if the platform reports fewer points in total. Counts throttled calls. */
export const recordCallCost = (
  db: Db,
  service: Service,
  connectionId: string,
  priority: PriorityClass,
  { unused, status, isThrottled = false }: CallCost,
) =>
  db.run(sql`
    update ecommerce_budget b
       set (capacity, restore_per_second) = (coalesce(${status?.maximumAvailable ?? null}::float8, capacity), coalesce(${status?.restoreRate ?? null}::float8, restore_per_second)),
           throttled = throttled + ${isThrottled ? 1 : 0}, orders_points = n.orders * scale, stock_points = n.stock * scale, background_points = n.background * scale
      from (select service_id, connection_id,
                   orders_points + case when ${priority} = 'orders' then ${unused}::float8 else 0 end as orders,
                   stock_points + case when ${priority} = 'stock' then ${unused}::float8 else 0 end as stock,
                   background_points + case when ${priority} = 'background' then ${unused}::float8 else 0 end as background
              from ecommerce_budget where service_id = ${service.id} and connection_id = ${connectionId} for update) n
     cross join lateral (
       select least(1, coalesce(${status?.currentlyAvailable ?? null}::float8 / nullif(n.orders + n.stock + n.background, 0), 1)) as scale) f
     where b.service_id = n.service_id and b.connection_id = n.connection_id`)

/** Returns the points of each class now. */
export const readPoints = (db: Db, service: Service, connectionId: string) =>
  db.row<{ capacity: number; restorePerSecond: number; orders: number; stock: number; background: number }>(sql`
    select capacity, restore_per_second as "restorePerSecond", floor(orders) as orders, floor(stock) as stock, floor(background) as background
      from ${restore(sql`ecommerce_budget`)} p where service_id = ${service.id} and connection_id = ${connectionId}`)
