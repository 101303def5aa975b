import { type Db, raw, sql } from '../../database/db.ts'

/**
 * Analyzes the tables that have at least doubled since their last analysis. While a table is filled, its statistics are up to a minute old:
 * plans for an empty table would read the complete table for each row. Analyzing also replaces cached plans. Uncommitted rows don't count,
 * so such a table is analyzed again later.
 */
export async function analyzeGrownTables(db: Db) {
  const grown = await db.rows<{ name: string }>(sql`
    select format('%I', relname) as name from pg_class
     where relkind = 'r' and relnamespace = current_schema()::regnamespace
       and (pg_relation_size(oid) / 8192 > 2 * relpages or reltuples = 0 and relpages > 0) order by 1`)
  for (const { name } of grown) await db.run(raw(`analyze (skip_locked) ${name}`))
}
