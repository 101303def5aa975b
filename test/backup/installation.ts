import { type Database, raw, sql } from '../../src/database/db.ts'

/** Returns the number of rows of each table and a digest that doesn't depend on their order. */
export async function digestTables(db: Database) {
  const contents: Record<string, object | undefined> = {}
  for (const name of await listTables(db))
    contents[name] = await db.row(sql`
      select count(*)::integer as rows, md5(string_agg(line, '' order by line)) as digest
        from (select md5(t::text) as line from ${raw(name)} t) lines`)
  return contents
}

/** Lists all tables except `migration`. */
async function listTables(db: Database): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select quote_ident(relname) as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'migration' order by relname`)
  return rows.map(({ name }) => name)
}
