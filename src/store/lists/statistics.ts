import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/**
 * Has PostgreSQL look at tables that have at least doubled since it last did. For up to a minute its statistics of a table that is being
 * filled are those of an empty one, and plans made from them read the whole table for each row. Plans that were kept are then made anew.
 * Rows that are not committed yet do not count for it: such a table is looked at again.
 */
export async function analyzeGrownTables(db: Db) {
  const grown = await db.rows<{ name: string }>(sql`
    select format('%I', relname) as name from pg_class
     where relkind = 'r' and relnamespace = current_schema()::regnamespace
       and (pg_relation_size(oid) / 8192 > 2 * relpages or reltuples = 0 and relpages > 0) order by 1`)
  for (const { name } of grown) await db.run(raw(`analyze (skip_locked) ${name}`))
}

/**
 * A service whose rows are looked up by the many, hidden from the planner. Of a service that its statistics do not know the planner expects
 * next to no rows, and would read all of them for each look-up. Hidden, a service is one like the others.
 */
export const opaqueServiceId = (service: Service): Sql => sql`(select ${service.id}::integer)`
