import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Reservation } from '../../domain/inventory/reservations.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { OpenRecords } from '../../errors/account-limit.ts'
import { localTime } from '../lists/change-timestamp.ts'

/** Reserved units of one stock level. */
interface ReservedUnits {
  storeId: string
  skuId: string
  quantity: number
}

export interface ReservationLine extends ReservedUnits {
  sequence: number
  /** Units that the client requested. `quantity` is lower if fewer could be reserved. */
  requested: number
}

export interface LockedReservation {
  id: string
  reference: string | null
  lines: ReservationLine[]
}

/** Locks a reservation. Returns undefined if it doesn't exist or has expired. Call before `lockStock`. */
export async function lockReservation(tx: Db, service: Service, id: string): Promise<LockedReservation | undefined> {
  const [row, lines] = await Promise.all([
    tx.row<{ reference: string | null; isCurrent: boolean }>(sql`
      select reference, expires_at > clock_timestamp() as "isCurrent"
        from stock_reservation where service_id = ${service.id} and id = ${id} for update`),
    tx.rows<ReservationLine>(sql`
      select store_id as "storeId", sku_id as "skuId", quantity, requested, sequence
        from stock_reservation_line where service_id = ${service.id} and reservation_id = ${id} order by sequence`),
  ])
  return row?.isCurrent ? { id, reference: row.reference, lines } : undefined
}

interface StoredReservation {
  id: string
  reference: string | null
  account: string
  seconds: number
  /** True if it can have lines, also expired ones, that the new ones replace. */
  hasLines: boolean
}

/** Stores a reservation, or renews it from now on, with these lines instead of its previous ones. Call while their stock is locked. */
export const storeReservation = (
  tx: Db,
  service: Service,
  { id, reference, account, seconds, hasLines }: StoredReservation,
  lines: readonly ReservationLine[],
) =>
  Promise.all([
    tx.run(sql`
      insert into stock_reservation (service_id, id, reference, account, expires_at)
      values (${service.id}, ${id}, ${reference}, ${account}, clock_timestamp() + make_interval(secs => ${seconds}))
      on conflict (service_id, id) do update set reference = excluded.reference, expires_at = excluded.expires_at`),
    hasLines &&
      tx.run(sql`delete from stock_reservation_line where service_id = ${service.id} and reservation_id = ${id}`),
    tx.run(sql`
      insert into stock_reservation_line (service_id, reservation_id, store_id, sku_id, sequence, quantity, requested)
      select ${service.id}, ${id}, "storeId", "skuId", sequence, quantity, requested
        from json_to_recordset(${JSON.stringify(lines)}) as line ("storeId" text, "skuId" text, sequence integer, quantity integer, requested integer)`),
  ])

/** Extends a locked reservation if it expires within these seconds. */
export const extendReservation = (tx: Db, service: Service, id: string, seconds: number) =>
  tx.run(sql`
    update stock_reservation set expires_at = greatest(expires_at, clock_timestamp() + make_interval(secs => ${seconds}))
     where service_id = ${service.id} and id = ${id}`)

/** Deletes a reservation with its lines. `moveStock` must then make their units free in the same transaction. */
export const endReservation = (tx: Db, service: Service, id: string) =>
  tx.run(sql`delete from stock_reservation where service_id = ${service.id} and id = ${id}`)

/** Returns a reservation, or undefined if it doesn't exist or has expired. */
export const findReservation = (db: Db, service: Service, id: string): Promise<Reservation | undefined> =>
  db.row<Reservation>(sql`
    select r.id, r.reference, ${localTime(sql`r.expires_at`, service)} as "expiresAt",
           coalesce((select json_agg(json_build_object('sku', v.sku, 'storeNumber', c.store_number, 'quantity', l.quantity, 'requested', l.requested) order by l.sequence)
                       from stock_reservation_line l
                       join variant v on v.service_id = l.service_id and v.sku_id = l.sku_id
                       join store c on c.service_id = l.service_id and c.store_id = l.store_id
                      where l.service_id = r.service_id and l.reservation_id = r.id), '[]') as lines
      from stock_reservation r
     where r.service_id = ${service.id} and r.id = ${id} and r.expires_at > clock_timestamp()`)

/** Counts the reservations of an account. Returns also the seconds until its first one expires. */
export async function countReservations(tx: Db, service: Service, account: string) {
  const row = await tx.row<OpenRecords>(sql`
    select count(*)::integer as count, coalesce(ceil(extract(epoch from min(expires_at) - clock_timestamp())), 0)::integer as seconds
      from stock_reservation where service_id = ${service.id} and account = ${account} and expires_at > clock_timestamp()`)
  if (!row) throw new Error('count of reservations returned no row')
  return row
}

/** SQL for the units of stock `stock` (an alias) in the reservations `r` that meet a condition. Without reserved units, it reads none. */
const unitsOfReservations = (stock: Sql, condition: Sql) => sql`
  case when ${stock}.reserved = 0 then 0 else (
    select coalesce(sum(l.quantity), 0)
      from stock_reservation_line l
      join stock_reservation r on r.service_id = l.service_id and r.id = l.reservation_id
     where l.service_id = ${stock}.service_id and l.store_id = ${stock}.store_id and l.sku_id = ${stock}.sku_id and ${condition}) end`

/**
 * SQL for the units of stock `s` in unexpired reservations `r`. `s.reserved` can't be used: it includes expired reservations until
 * `watchReservations` has ended them. `and`: a further condition.
 */
export const currentlyReserved = (and = sql``) =>
  unitsOfReservations(sql`s`, sql`r.expires_at > clock_timestamp() ${and}`)

/**
 * SQL that is true if stock `stock` (an alias) has reserved units, and the service has expired reservations that are not ended. That is rare,
 * and read once per statement.
 */
export const mayHaveExpired = (service: Service, stock: Sql) => sql`
  (${stock}.reserved > 0 and (select true from stock_reservation where service_id = ${service.id} and expires_at <= statement_timestamp() limit 1))`

/** SQL for the units of stock `stock` in expired reservations, which `stock.reserved` still contains. */
export const expiredUnits = (stock: Sql) => unitsOfReservations(stock, sql`r.expires_at <= statement_timestamp()`)

/** Returns the services with expired reservations, and the milliseconds until the next reservation expires, if there is one. */
export async function findExpiredReservations(db: Db) {
  const [expired, next] = await Promise.all([
    db.rows<{ id: number }>(
      sql`select distinct service_id as id from stock_reservation where expires_at <= clock_timestamp()`,
    ),
    db.row<{ ms: number }>(sql`
      select ceil(extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as ms
        from stock_reservation where expires_at > clock_timestamp() order by expires_at limit 1`),
  ])
  return { serviceIds: expired.map(({ id }) => id), nextMs: next?.ms }
}

/** Maximum number of stock levels whose reservations end in one transaction. */
const maxLevels = 200

/** Returns the stock levels with units of expired reservations: those that expired first. */
export const findExpiredLevels = (tx: Db, serviceId: number) =>
  tx.rows<Omit<ReservedUnits, 'quantity'>>(sql`
    select l.store_id as "storeId", l.sku_id as "skuId"
      from stock_reservation r
      join stock_reservation_line l on l.service_id = r.service_id and l.reservation_id = r.id
     where r.service_id = ${serviceId} and r.expires_at <= clock_timestamp()
     group by 1, 2 order by min(r.expires_at) limit ${maxLevels}`)

/**
 * CTEs of a statement that changes the locked stock of `levels` (`storeId`, `skuId`): they delete the expired reservations at these levels.
 * `ended` has the deleted lines. Skips reservations that another transaction has locked to renew or use them.
 */
export const endExpiredAt = (service: Service, levels: Sql) => sql`
  expired as (
    select l.reservation_id, l.store_id, l.sku_id
      from ${levels}
      join stock_reservation_line l on l.service_id = ${service.id} and l.store_id = "storeId" and l.sku_id = "skuId"
      join stock_reservation r on r.service_id = l.service_id and r.id = l.reservation_id
     where r.expires_at <= clock_timestamp() for update of r skip locked),
  ended as (
    delete from stock_reservation_line l using expired e
     where l.service_id = ${service.id} and l.reservation_id = e.reservation_id and l.store_id = e.store_id and l.sku_id = e.sku_id
    returning l.reservation_id, l.store_id, l.sku_id, l.quantity),
  emptied as (
    delete from stock_reservation r using (select distinct reservation_id from ended) e
     where r.service_id = ${service.id} and r.id = e.reservation_id
       and not exists (select from stock_reservation_line l
                        where l.service_id = r.service_id and l.reservation_id = r.id
                          and not exists (select from ended
                                           where ended.reservation_id = l.reservation_id and ended.store_id = l.store_id and ended.sku_id = l.sku_id)))`

/** Deletes expired reservations without units that no other transaction has locked. */
export const deleteEmptyReservations = (tx: Db, service: Service) =>
  tx.run(sql`
    delete from stock_reservation
     where service_id = ${service.id}
       and id in (select id from stock_reservation r
                   where service_id = ${service.id} and expires_at <= clock_timestamp()
                     and not exists (select from stock_reservation_line l where l.service_id = r.service_id and l.reservation_id = r.id)
                     for update skip locked)`)
