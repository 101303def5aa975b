import { type Db, type Sql, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type RangeName, salesRanges } from '../../domain/time-ranges.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { materialized } from '../lists/planner-fences.ts'
import { formatTotal } from './stats.ts'

/** Amounts of an interval, in the currency of the service. */
interface AmountInterval {
  /** The start and the end, RFC 3339. */
  from: string
  until: string
  /** The number of records and the sum of their amounts. */
  count: number
  total: string
  /** The sum of the interval that it is compared with. */
  previous: string
}

/** Amounts of a range. */
interface AmountIntervals {
  intervals: AmountInterval[]
  count: number
  total: string
  /** The sum of the range before, until the same time of its last interval. */
  previous: string
}

/** Rows with the columns `at` (local time) and `amount`. `toBound` converts a local time to the type of `column`. */
interface AmountSource {
  column: Sql
  toBound: (local: Sql) => Sql
  select: (isInRange: Sql) => Sql
}

/** Sums up the amounts of each interval of a range, and of the same interval in the range before. */
async function sumByInterval(
  db: Db,
  { settings: { timeZone, currency } }: Service,
  range: RangeName,
  { column, toBound, select }: AmountSource,
): Promise<AmountIntervals> {
  const { count, intervalSeconds, daysBefore } = salesRanges[range]
  const now = sql`(now() at time zone ${timeZone})`
  const interval = sql`${intervalSeconds}::integer * interval '1 second'`
  const before = sql`${daysBefore}::integer * interval '1 day'`
  // Midnight, so that days and quarters of days begin there.
  const toStart = (time: Sql) => sql`date_bin(${interval}, ${time}, '2000-01-03')`
  const start = sql`(${toStart(now)} - ${count - 1}::integer * ${interval})`
  const end = sql`(${start} + ${count}::integer * ${interval})`
  const isBetween = (from: Sql, until: Sql) => sql`(${column} >= ${toBound(from)} and ${column} < ${toBound(until)})`
  const isInRange = sql`(${isBetween(start, end)} or ${isBetween(sql`(${start} - ${before})`, sql`(${end} - ${before})`)})`
  const rows = await db.rows<AmountInterval & { comparable: string }>(sql`
    with sums as ${materialized(sql`
      select ${toStart(sql`case when at >= ${start} then at else at + ${before} end`)} as start, count(*) filter (where at >= ${start}) as count,
             sum(amount) filter (where at >= ${start}) as total, sum(amount) filter (where at < ${start}) as previous,
             sum(amount) filter (where at < ${start} and at < ${now} - ${before}) as comparable
        from (${select(isInRange)}) amounts group by 1`)}
    select ${rfc3339(sql`(i.start at time zone ${timeZone})`)} as "from", ${rfc3339(sql`((i.start + ${interval}) at time zone ${timeZone})`)} as until,
           coalesce(count, 0)::integer as count, coalesce(total, 0)::numeric(30, 4)::text as total,
           coalesce(previous, 0)::numeric(30, 4)::text as previous, coalesce(comparable, 0)::numeric(30, 4)::text as comparable
      from generate_series(${start}, ${now}, ${interval}) as i(start) left join sums using (start) order by i.start`)
  const sum = (name: 'total' | 'comparable') => formatTotal(addAmounts(rows.map(row => row[name])), currency)
  return {
    intervals: rows.map(({ comparable: _, total, previous, ...row }) => ({
      ...row,
      total: formatTotal(total, currency),
      previous: formatTotal(previous, currency),
    })),
    count: rows.reduce((all, row) => all + row.count, 0),
    total: sum('total'),
    previous: sum('comparable'),
  }
}

/** Adds up amounts with four decimals. */
const addAmounts = (amounts: readonly string[]) =>
  formatAmount(
    amounts.reduce((all, amount) => all + BigInt(amount.replace('.', '')), 0n),
    4,
  )

/** Counts the orders of each interval, and adds up their totals. */
export const sumOrdersByInterval = (db: Db, service: Service, range: RangeName) => {
  const { timeZone, currency } = service.settings
  return sumByInterval(db, service, range, {
    column: sql`placed_at`,
    toBound: local => sql`${local} at time zone ${timeZone}`,
    select: isInRange => sql`
      select placed_at at time zone ${timeZone} as at, total as amount from sales_order
       where service_id = ${service.id} and currency = ${currency} and ${isInRange}`,
  })
}

/** Counts the retail transactions of each interval, and adds up their totals. */
export const sumSalesByInterval = (db: Db, service: Service, range: RangeName) =>
  sumByInterval(db, service, range, {
    column: sql`sale_date`,
    toBound: local => local,
    select: isInRange => sql`
      select sale_date as at, (item->>'total')::numeric as amount
        from retail_transaction cross join lateral ${materialized(sql`select record::json as item`)} r
       where service_id = ${service.id} and ${isInRange} and item->>'currency' = ${service.settings.currency}`,
  })
