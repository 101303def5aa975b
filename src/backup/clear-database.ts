import type pg from 'pg'

/**
 * Drops the tables that a start created before there was a service. Throws, with a remedy, if the database contains a service, an account
 * or tables of another program.
 */
export async function clearUnusedDatabase(client: pg.ClientBase) {
  // Prevents a concurrent migration.
  await client.query(`select pg_advisory_xact_lock(hashtext('tillbridge'), hashtext('migration'))`)
  const { rows } = await client.query<{ tables: string[]; functions: string[] }>(`
    select array(select quote_ident(relname) from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace) as tables,
           array(select oid::regprocedure::text from pg_proc p where pronamespace = current_schema()::regnamespace
                    and not exists (select from pg_depend where objid = p.oid and deptype = 'e')) as functions`)
  const { tables = [], functions = [] } = rows[0] ?? {}
  if (!tables.length) return
  if (!tables.includes('migration') || !tables.includes('service'))
    throw new Error(`The database already contains other tables (${tables.slice(0, 3).join(', ')}). ${remedy}`)
  const { rows: existing } = await client.query<{ name: string }>(
    'select name from service union all select username from account limit 3',
  )
  if (existing.length)
    throw new Error(`The database already contains data (${existing.map(({ name }) => name).join(', ')}). ${remedy}`)
  // Functions first: dropping a table drops its row type, which functions use.
  if (functions.length) await client.query(`drop function ${functions.join(', ')} cascade`)
  await client.query(`drop table ${tables.join(', ')} cascade`)
}

const remedy =
  'A backup must be restored into an empty database. Set DATA_DIR to a new directory, or DATABASE_URL to a new database.'
