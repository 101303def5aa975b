import { type Database, raw, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'

/** Counts the rows of a service by table. Tables without rows are left out. */
export async function countRowsByTable(db: Database, { id }: Service) {
  const tables = await db.rows<{ name: string }>(sql`
    select quote_ident(table_name) as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and column_name = 'service_id' and table_type = 'BASE TABLE' order by 1`)
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const rows = await db.run(sql`select from ${raw(name)} where service_id = ${id}`)
    if (rows) counts[name] = rows
  }
  return counts
}
