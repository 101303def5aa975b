import { readdir, readFile } from 'node:fs/promises'
import { type Database, raw, sql } from './db.ts'

const folder = new URL('../migrations/', import.meta.url)

/** The numbered migrations in their order: `0001_read_model.sql` … */
export async function migrationFiles() {
  return (await readdir(folder)).filter(name => /^\d{4}_\w+\.sql$/.test(name)).sort()
}

/**
 * Brings the database's schema up to date, forward only, each migration in a transaction of its own; its number goes in first,
 * so that of two processes one waits and finds it done. Returns the names that were applied.
 */
export async function migrate(db: Database): Promise<string[]> {
  await db.run(
    sql`create table if not exists migration (number integer primary key, name text not null, applied_at timestamptz not null default now())`,
  )
  const files = await migrationFiles()
  const { latest } = (await db.row<{ latest: number }>(
    sql`select coalesce(max(number), 0) as latest from migration`,
  )) ?? { latest: 0 }
  if (latest > files.length)
    throw new Error(
      `The database is at migration ${latest}, this version knows ${files.length}: run a newer Tillbridge.`,
    )
  const applied: string[] = []
  for (const name of files.slice(latest)) {
    const text = await readFile(new URL(name, folder), 'utf8')
    const claimed = await db.transaction(async tx => {
      const fresh = await tx.run(
        sql`insert into migration (number, name) values (${Number(name.slice(0, 4))}, ${name}) on conflict do nothing`,
      )
      if (fresh) for (const statement of statements(text)) await tx.run(raw(statement))
      return fresh > 0
    })
    if (claimed) applied.push(name)
  }
  return applied
}

/** Splits at semicolons that end a line, but for those between `$$` quotes: the extended protocol takes one statement at a time. */
function statements(text: string) {
  const found: string[] = []
  let current = ''
  for (const line of text.split('\n')) {
    current += `${line}\n`
    const quoted = current.split('$$').length % 2 === 0
    if (!quoted && line.trimEnd().endsWith(';') && !line.trimStart().startsWith('--')) {
      found.push(current)
      current = ''
    }
  }
  return current.trim() ? [...found, current] : found
}
