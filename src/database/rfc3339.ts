import { type Sql, sql } from './db.ts'

/** A `timestamptz` in RFC 3339, with microseconds. */
export const rfc3339Micros = (timestamp: Sql) =>
  sql`to_char(${timestamp} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/** A `timestamptz` in RFC 3339, with whole seconds. */
export const rfc3339 = (timestamp: Sql): Sql =>
  sql`to_char(${timestamp} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
