import { type Sql, sql } from '../../database/db.ts'

/** A moment as answers have it: RFC 3339, in whole seconds of UTC. */
export const rfc3339 = (moment: Sql): Sql => sql`to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
