import { type Db, raw, type Sql, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'

/**
 * Has PostgreSQL look at tables that have at least doubled since it last did. Its statistics of a table that is being filled are those of
 * an empty one for up to a minute, and plans that are made of them read the whole table for each row. A plan that was kept is made anew.
 * Rows that were not committed when it looked are none to it: such a table is looked at again.
 */
export async function lookAtGrownTables(db: Db) {
  const grown = await db.rows<{ name: string }>(sql`
    select format('%I', relname) as name from pg_class
     where relkind = 'r' and relnamespace = current_schema()::regnamespace
       and (pg_relation_size(oid) / 8192 > 2 * relpages or reltuples = 0 and relpages > 0) order by 1`)
  for (const { name } of grown) await db.run(raw(`analyze (skip_locked) ${name}`))
}

/**
 * A service whose rows are looked up by the many, unseen by the planner: of one that its statistics do not know it expects next to no rows,
 * and would read all of them for each that is looked up. Unseen, it is one like the others.
 */
export const anyService = (service: Service): Sql => sql`(select ${service.id}::integer)`
