import type pg from 'pg'

/** A table whose rows are in backups. Names are quoted for SQL. */
export interface Table {
  name: string
  columns: string[]
  /** Size on disk without indexes, about the size of its rows in a backup before compression. */
  bytes: number
  /** True if its rows belong to services. */
  isPerService: boolean
}

/** All tables except the migrations, which are in the head of a backup. Generated columns are left out. */
export async function listTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select quote_ident(c.relname) as name, pg_table_size(c.oid)::float8 as bytes,
           array(select quote_ident(attname) from pg_attribute
                  where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns,
           exists (select from pg_attribute where attrelid = c.oid and attname = 'service_id' and not attisdropped) as "isPerService"
      from pg_class c
     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname <> 'migration'
     order by c.relname`)
  return rows
}

/**
 * Builds the SQL filter for the backup of one service: its own rows, the accounts with access to it, and the row of the table
 * `installation`. That row has the digest of SECRET_KEY.
 */
export function buildRowFilter(serviceId: number, { name, isPerService }: Table) {
  if (isPerService) return `where service_id = ${serviceId}`
  if (name === 'account' || name === 'account_password')
    return `where username in (select username from account_service where service_id = ${serviceId})`
  return name === 'installation' ? '' : 'where false'
}

/** Reads the last value of each identity column's sequence. Leaves out sequences that were never used. */
export async function readSequences(client: pg.ClientBase) {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(`
    select quote_ident(c.relname) as table, a.attname as column,
           pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
      from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attidentity <> '' and c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
     order by 1, 2`)
  const sequences: { table: string; column: string; last: string }[] = []
  for (const { table, column, sequence } of rows) {
    const { rows: used } = await client.query<{ last: string }>(
      `select last_value::text as last from ${sequence} where is_called`,
    )
    if (used[0]) sequences.push({ table, column, last: used[0].last })
  }
  return sequences
}
