import { type Sql, sql } from '../../database/db.ts'
import { type RangeName, ranges } from '../../domain/time-ranges.ts'

/** SQL for the length of the intervals of a range. */
export const getInterval = (range: RangeName): Sql =>
  sql`${ranges[range].intervalSeconds}::integer * interval '1 second'`

/** SQL for the start of the interval that contains a time. */
const toIntervalStart = (range: RangeName, time: Sql): Sql =>
  sql`date_bin(${getInterval(range)}, ${time}, '2000-01-03Z')`

/** SQL for the start of the first interval. The last interval contains the current time. */
export const getRangeStart = (range: RangeName): Sql =>
  sql`(${toIntervalStart(range, sql`now()`)} - ${ranges[range].count - 1}::integer * ${getInterval(range)})`

/** SQL for the starts of all intervals. */
export const listIntervals = (range: RangeName): Sql =>
  sql`generate_series(${getRangeStart(range)}, now(), ${getInterval(range)})`
