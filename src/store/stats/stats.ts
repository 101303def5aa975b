import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { amount, decimalsOf } from '../../domain/values/money.ts'
import { rfc3339 } from '../lists/page.ts'

const minutes = 24 * 60

/** The minutes of the last 24 hours, the one that is under way among them. */
const day = sql`generate_series(date_trunc('minute', now()) - ${minutes - 1} * interval '1 minute', now(), interval '1 minute') each`
/** When the first of them begins, RFC 3339. */
const since = rfc3339(sql`min(each)`)
/** A figure of each, 0 where there is none. */
const ofEach = (figure: Sql) => sql`json_agg(coalesce(${figure}, 0) order by each)`

/** How many requests each minute had. */
export const requestMinutes = (db: Db, service: Service) =>
  db.row<{ since: string; answered: number[]; refused: number[]; failed: number[] }>(sql`
    select ${since} as since, ${ofEach(sql`answered`)} as answered, ${ofEach(sql`refused`)} as refused, ${ofEach(sql`failed`)} as failed
      from ${day} left join request_minute on service_id = ${service.id} and minute = each`)

/** How many calls of the back office each minute had, and the milliseconds that one took on the average, and the slowest. */
export const callMinutes = (db: Db, service: Service) =>
  db.row<{ since: string; calls: number[]; failed: number[]; average: number[]; slowest: number[] }>(sql`
    select ${since} as since, ${ofEach(sql`calls`)} as calls, ${ofEach(sql`failed`)} as failed,
           ${ofEach(sql`round(milliseconds / calls)`)} as average, ${ofEach(sql`round(slowest)`)} as slowest
      from ${day} left join call_minute on service_id = ${service.id} and minute = each`)

interface Summed {
  currency: string
  count: number
  /** With four decimals. */
  total: string
}

/** How many, and their sum, by currency. */
const sums = async (db: Db, currency: Sql, total: Sql, from: Sql) => {
  const rows = await db.rows<Summed>(sql`
    select ${currency} as currency, count(*)::float8 as count, sum(${total})::numeric(30, 4)::text as total from ${from} group by 1 order by 1`)
  return rows.map(({ total, ...rest }) => ({ ...rest, total: shown(total, rest.currency) }))
}

/** An amount of four decimals with those of its currency, which has no more. */
function shown(total: string, currency: string) {
  const decimals = decimalsOf(currency)
  return amount(BigInt(total.replace('.', '')) / 10n ** BigInt(4 - decimals), decimals)
}

const today = ({ settings }: Service) => sql`(now() at time zone ${settings.timeZone})::date`

/** `YYYY-MM-DD`, on the clock of the service. */
export const dayOf = async (db: Db, service: Service) =>
  (await db.row<{ day: string }>(sql`select ${today(service)}::text as day`))?.day ?? ''

/** Orders that were placed today. */
export const ordersToday = (db: Db, service: Service) =>
  sums(
    db,
    sql`currency`,
    sql`total`,
    sql`sales_order where service_id = ${service.id} and placed_at >= ${today(service)}::timestamp at time zone ${service.settings.timeZone}`,
  )

/** Retail transactions of today. */
export const salesToday = (db: Db, service: Service) =>
  sums(
    db,
    sql`told->>'currency'`,
    sql`(told->>'total')::numeric`,
    sql`retail_transaction cross join lateral (select record::json as told offset 0) r
         where service_id = ${service.id} and sale_date >= ${today(service)} and sale_date < ${today(service)} + 1`,
  )

/** What is left on vouchers that can still be spent, or could once they are resumed. */
export const owedForVouchers = (db: Db, service: Service) =>
  sums(
    db,
    sql`currency`,
    sql`balance`,
    sql`voucher where service_id = ${service.id} and balance > 0 and state in ('active', 'locked', 'suspended')
          and (expiry_date is null or expiry_date >= ${today(service)})`,
  )
