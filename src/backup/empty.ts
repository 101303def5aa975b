import type pg from 'pg'

/**
 * Makes sure that there is nothing in a database: what a start has made in it before there was a service is taken away. Throws, with a
 * way out, where there is more.
 */
export async function clear(client: pg.ClientBase) {
  // Prevents a concurrent migration.
  await client.query(`select pg_advisory_xact_lock(hashtext('tillbridge'), hashtext('migration'))`)
  const { rows } = await client.query<{ tables: string[]; functions: string[] }>(`
    select array(select quote_ident(relname) from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace) as tables,
           array(select oid::regprocedure::text from pg_proc p where pronamespace = current_schema()::regnamespace
                    and not exists (select from pg_depend where objid = p.oid and deptype = 'e')) as functions`)
  const { tables = [], functions = [] } = rows[0] ?? {}
  if (!tables.length) return
  if (!tables.includes('migration') || !tables.includes('service'))
    throw new Error(`The database holds other tables already (${tables.slice(0, 3).join(', ')}). ${wayOut}`)
  const { rows: held } = await client.query<{ name: string }>(
    'select name from service union all select username from account limit 3',
  )
  if (held.length)
    throw new Error(`The database holds something already (${held.map(({ name }) => name).join(', ')}). ${wayOut}`)
  // First, as long as there are the types that they take.
  if (functions.length) await client.query(`drop function ${functions.join(', ')} cascade`)
  await client.query(`drop table ${tables.join(', ')} cascade`)
}

const wayOut =
  'A backup is restored into an empty one: set DATA_DIR to a new directory, or DATABASE_URL to a new database, and nothing is lost.'
