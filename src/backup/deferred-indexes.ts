import type pg from 'pg'

/** A key, constraint or index that is created again after the rows are restored, which is faster than maintaining it row by row. */
interface DeferredObject {
  table: string
  name: string
  /** The definition of a key or constraint without its name. Null for a plain index. */
  constraint: string | null
  /** The statement that creates a plain index. Null for a key or constraint. */
  createStatement: string | null
  comment: string | null
}

/**
 * Lists primary keys (`p`), unique (`u`) and exclusion (`x`) constraints first, then plain indexes, then foreign keys (`f`). The key of the
 * table `migration` stays, because a backup has no rows of that table. `on only` is how PostgreSQL prints the index of a partitioned table.
 * With it, the partitions would not have the index.
 */
const selectDeferredObjects = `
  select c.conrelid::regclass::text as table, quote_ident(c.conname) as name, pg_get_constraintdef(c.oid) as constraint, null as "createStatement",
         obj_description(c.oid, 'pg_constraint') as comment, case c.contype when 'f' then 3 else 1 end as phase
    from pg_constraint c
   where c.contype in ('p', 'u', 'x', 'f') and c.connamespace = current_schema()::regnamespace and c.conrelid <> 'migration'::regclass
  union all
  select i.indrelid::regclass::text, i.indexrelid::regclass::text, null, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON '),
         obj_description(i.indexrelid, 'pg_class'), 2
    from pg_index i join pg_class t on t.oid = i.indrelid
   where t.relnamespace = current_schema()::regnamespace and not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u', 'x'))
   order by phase, 1, 2`

const selectTablesWithTriggers = `
  select distinct tgrelid::regclass::text as table from pg_trigger t join pg_class c on c.oid = t.tgrelid
   where not tgisinternal and c.relnamespace = current_schema()::regnamespace order by 1`

/**
 * Drops keys and indexes of all tables, and disables their triggers. Returns a function that creates them again and reports its progress
 * from 0 to 1. Call both in the transaction of the restore. Drop before there are partitions: their indexes can't be dropped alone.
 */
export async function deferIndexes(
  client: pg.ClientBase,
): Promise<(onShare: (share: number) => void) => Promise<void>> {
  const { rows: objects } = await client.query<DeferredObject>(selectDeferredObjects)
  const { rows: triggered } = await client.query<{ table: string }>(selectTablesWithTriggers)
  for (const { table } of triggered) await client.query(`alter table ${table} disable trigger user`)
  // Foreign keys first, because they depend on the other keys.
  for (const { table, name, constraint } of objects.toReversed())
    await client.query(constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${name}`)
  return async onShare => {
    for (const [i, object] of objects.entries()) {
      await client.query(
        object.createStatement ?? `alter table ${object.table} add constraint ${object.name} ${object.constraint}`,
      )
      if (object.comment !== null) await client.query(buildComment(object, client.escapeLiteral(object.comment)))
      onShare((i + 1) / objects.length)
    }
    for (const { table } of triggered) await client.query(`alter table ${table} enable trigger user`)
  }
}

const buildComment = ({ table, name, constraint }: DeferredObject, text: string) =>
  constraint === null ? `comment on index ${name} is ${text}` : `comment on constraint ${name} on ${table} is ${text}`
