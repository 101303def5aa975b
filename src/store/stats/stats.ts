import { type Db, type Sql, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { RangeName } from '../../domain/time-ranges.ts'
import { formatAmount, getDecimals } from '../../domain/values/money.ts'
import { materialized } from '../lists/planner-fences.ts'
import { sumDurations } from '../request-log/blocks.ts'
import { getInterval, listIntervals } from './range.ts'

const minutesPerDay = 24 * 60

/** The minutes of the last 24 hours, including the current one. */
const lastDayMinutes = sql`generate_series(date_trunc('minute', now()) - ${minutesPerDay - 1} * interval '1 minute', now(), interval '1 minute') minute_start`
/** The start of the first minute, RFC 3339. */
const since = rfc3339(sql`min(minute_start)`)
/** SQL for an array with one value per minute. A minute without a value has 0. */
const toMinuteArray = (value: Sql) => sql`json_agg(coalesce(${value}, 0) order by minute_start)`

/** Returns the number of requests per minute. */
export const readRequestMinutes = (db: Db, service: Service) =>
  db.row<{ since: string; answered: number[]; rejected: number[]; failed: number[] }>(sql`
    select ${since} as since, ${toMinuteArray(sql`answered`)} as answered, ${toMinuteArray(sql`rejected`)} as rejected, ${toMinuteArray(sql`failed`)} as failed
      from ${lastDayMinutes} left join request_minute on service_id = ${service.id} and minute = minute_start`)

/** Requests of an interval. Omits requests of the console. */
interface RequestInterval {
  /** The start, RFC 3339. */
  at: string
  answered: number
  rejected: number
  failed: number
  /** Latency histogram (`domain/latencies.ts`). */
  durations: number[]
}

/** Counts the requests of each interval of a range. */
export const readRequestIntervals = (db: Db, service: Service, range: RangeName) =>
  db.rows<RequestInterval>(sql`
    select ${rfc3339(sql`i.start`)} as at, coalesce(sum(answered), 0)::integer as answered, coalesce(sum(rejected), 0)::integer as rejected,
           coalesce(sum(failed), 0)::integer as failed, ${sumDurations(n => sql`coalesce(sum(durations[${n}]), 0)`)} as durations
      from ${listIntervals(range)} as i(start)
      left join request_minute m on m.service_id = ${service.id} and m.minute >= i.start and m.minute < i.start + ${getInterval(range)}
     group by 1 order by 1`)

/** Returns the back-office calls per minute, with their average and slowest duration in milliseconds. */
export const readCallMinutes = (db: Db, service: Service) =>
  db.row<{ since: string; calls: number[]; failed: number[]; average: number[]; slowest: number[] }>(sql`
    select ${since} as since, ${toMinuteArray(sql`calls`)} as calls, ${toMinuteArray(sql`failed`)} as failed,
           ${toMinuteArray(sql`round(milliseconds / calls)`)} as average, ${toMinuteArray(sql`round(slowest)`)} as slowest
      from ${lastDayMinutes} left join call_minute on service_id = ${service.id} and minute = minute_start`)

interface CurrencySum {
  currency: string
  count: number
  /** With four decimals. */
  total: string
}

/** Counts rows and adds up their amounts by currency. */
const sumByCurrency = async (db: Db, currency: Sql, total: Sql, from: Sql) => {
  const rows = await db.rows<CurrencySum>(sql`
    select ${currency} as currency, count(*)::float8 as count, sum(${total})::numeric(30, 4)::text as total from ${from} group by 1 order by 1`)
  return rows.map(sum => ({ ...sum, total: formatTotal(sum.total, sum.currency) }))
}

/** Formats an amount of four decimals with the decimals of its currency. No currency has more than four. */
export function formatTotal(total: string, currency: string) {
  const decimals = getDecimals(currency)
  return formatAmount(BigInt(total.replace('.', '')) / 10n ** BigInt(4 - decimals), decimals)
}

const today = ({ settings }: Service) => sql`(now() at time zone ${settings.timeZone})::date`

/** Returns the current day in the service's time zone, `YYYY-MM-DD`. */
export const readCurrentDay = async (db: Db, service: Service) =>
  (await db.row<{ day: string }>(sql`select ${today(service)}::text as day`))?.day ?? ''

/** Sums up the orders placed today. */
export const sumOrdersToday = (db: Db, service: Service) =>
  sumByCurrency(
    db,
    sql`currency`,
    sql`total`,
    sql`sales_order where service_id = ${service.id} and placed_at >= ${today(service)}::timestamp at time zone ${service.settings.timeZone}`,
  )

/** Sums up today's retail transactions. */
export const sumSalesToday = (db: Db, service: Service) =>
  sumByCurrency(
    db,
    sql`item->>'currency'`,
    sql`(item->>'total')::numeric`,
    sql`retail_transaction cross join lateral ${materialized(sql`select record::json as item`)} r
         where service_id = ${service.id} and sale_date >= ${today(service)} and sale_date < ${today(service)} + 1`,
  )

/** Sums up the balances of vouchers that can be spent now or after they are resumed. */
export const sumVoucherBalances = (db: Db, service: Service) =>
  sumByCurrency(
    db,
    sql`currency`,
    sql`balance`,
    sql`voucher where service_id = ${service.id} and balance > 0 and state in ('active', 'locked', 'suspended')
          and (expiry_date is null or expiry_date >= ${today(service)})`,
  )
