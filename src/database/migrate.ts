import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, raw, sql } from './db.ts'
import { isContention } from './pg/contention.ts'

const bundledFolder = new URL('../../migrations/', import.meta.url)

/** The numbered migrations of a folder in their order: `0001_services.sql` … */
export async function listMigrationFiles(folder = bundledFolder) {
  return (await readdir(folder)).filter(name => /^\d{4}_\w+\.sql$/.test(name)).sort()
}

/** Returns the SHA-256 of a migration's text in hexadecimal, as `sha256sum` prints it. */
export const toSha256Hex = (text: string) => createHash('sha256').update(text).digest('hex')

interface Migration {
  number: number
  name: string
  text: string
  sha256: string
  /** Newest migration that a process must know to run on the migrated database. 0 if the migration only adds (expand). */
  requires: number
}

/** Returns the number in the first line of a migration that removes something: `-- contract: requires 0015`. Otherwise returns 0. */
export const readRequiredMigration = (text: string) => Number(/^-- contract: requires (\d{4})\n/.exec(text)?.[1] ?? 0)

const loadMigrations = async (folder: URL): Promise<Migration[]> =>
  Promise.all(
    (await listMigrationFiles(folder)).map(async name => {
      const text = await readFile(new URL(name, folder), 'utf8')
      return {
        number: Number(name.slice(0, 4)),
        name,
        text,
        sha256: toSha256Hex(text),
        requires: readRequiredMigration(text),
      }
    }),
  )

/**
 * Applies the pending migrations in order, each in its own transaction, and returns their names. The transaction inserts the migration's number
 * first, so a second process waits and then finds it applied. Throws if the text of an applied migration differs. If the database is ahead
 * of the folder, throws unless the newer migrations permit older processes. `upTo`: the migrations of a backup. Only these are applied, and it
 * throws if one of them differs, or if the database is ahead.
 */
export async function migrate(
  db: MigrationTarget,
  {
    folder = bundledFolder,
    upTo,
  }: { folder?: URL; upTo?: readonly Pick<Migration, 'number' | 'name' | 'sha256'>[] } = {},
): Promise<string[]> {
  await createMigrationTable(db)
  const available = await loadMigrations(folder)
  const migrations = upTo ? selectBackupMigrations(available, upTo) : available
  const applied: string[] = []
  for (const migration of await selectPending(db, migrations, upTo !== undefined))
    if (await applyMigration(db, migration)) applied.push(migration.name)
  return applied
}

/** Returns the names of the pending migrations without applying them. Throws if the database can't be migrated. */
export async function findPendingMigrations(db: Database): Promise<string[]> {
  const table = await db.row<{ exists: boolean }>(sql`select to_regclass('migration') is not null as exists`)
  const migrations = await loadMigrations(bundledFolder)
  return (table?.exists ? await selectPending(db, migrations) : migrations).map(({ name }) => name)
}

async function selectPending(db: MigrationTarget, migrations: Migration[], isRestore = false): Promise<Migration[]> {
  const applied = await loadApplied(db)
  const changed = migrations.find(({ number, sha256 }) => applied.has(number) && applied.get(number)?.sha256 !== sha256)
  if (changed)
    throw new Error(
      `Migration ${changed.name} has changed since this database applied it: restore the original file and put the change into a new migration, or start with an empty database.`,
    )
  const latest = Math.max(0, ...applied.keys())
  const required = isRestore ? latest : Math.max(0, ...[...applied.values()].map(({ requires }) => requires))
  if (required > migrations.length)
    throw new Error(
      `The database is at migration ${latest} and requires ${required}, this version knows ${migrations.length}: run a newer Tillbridge.`,
    )
  return migrations.slice(latest)
}

/** Maximum attempts to apply a migration. Requests of an older release that still runs can hold locks that the migration needs. */
const maxAttempts = 60

/**
 * Applies a migration. Returns false if another process has applied it. Waits at most one second for a lock, because all later requests for the
 * table queue behind that wait, and then tries again.
 */
async function applyMigration(
  db: MigrationTarget,
  { number, name, text, sha256, requires }: Migration,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++)
    try {
      return await db.transaction(async tx => {
        const inserted = await tx.run(
          sql`insert into migration (number, name, sha256, requires) values (${number}, ${name}, ${sha256}, ${requires}) on conflict do nothing`,
        )
        if (!inserted) return false
        await tx.run(sql`set local lock_timeout = '1s'`)
        for (const statement of splitStatements(text)) await tx.run(raw(statement))
        await tx.run(sql`set local lock_timeout = 0`)
        return true
      })
    } catch (error) {
      if (!(isContention(error) || isLockTimeout(error)) || attempt === maxAttempts) throw error
      await delay(Math.random() * 500)
    }
}

/** True if a lock was not granted in time. */
const isLockTimeout = (error: unknown) => (error as { code?: unknown }).code === '55P03'

/** The target of migrations: a database, or one transaction in it. */
type MigrationTarget = Pick<Database, 'rows' | 'transaction'>

function selectBackupMigrations(
  migrations: Migration[],
  required: readonly Pick<Migration, 'number' | 'name' | 'sha256'>[],
) {
  const different = required.find(({ sha256 }, i) => migrations[i]?.sha256 !== sha256)
  if (different)
    throw new Error(
      `The backup was made of migration ${different.name}, which this version ${migrations[different.number - 1] ? 'has with other contents' : 'does not have'}. Restore it with the Tillbridge that made it, or a newer one.`,
    )
  return migrations.slice(0, required.length)
}

const createMigrationTable = (db: MigrationTarget) =>
  db.transaction(async tx => {
    // Two processes that create the table at the same time would conflict in spite of `if not exists`.
    await tx.run(sql`select pg_advisory_xact_lock(hashtext('tillbridge'), hashtext('migration'))`)
    // Queried first: a transaction accepts no query after a failed statement.
    const session = await tx.row<{ role: string; database: string }>(sql`
      select quote_ident(current_user) as role, quote_ident(current_database()) as database`)
    const creation = tx.run(sql`
      create table if not exists migration (
        number integer primary key,
        name text not null,
        sha256 text not null,
        requires integer not null default 0,
        applied_at timestamptz not null default now()
      )`)
    await creation.catch(cause => {
      if (!session || (cause as { code?: unknown }).code !== '42501') throw cause
      const { role, database } = session
      throw new Error(
        `The role ${role} can't create tables in the database ${database}. Run: alter database ${database} owner to ${role}`,
        { cause },
      )
    })
  })

/** Returns the applied migrations by number. */
async function loadApplied(db: MigrationTarget) {
  // As JSON: the table of a database from before the first release has no digest column, and it must fail with the same message.
  const rows = await db.rows<{ number: number; sha256: string | null; requires: number }>(sql`
    select number, to_jsonb(m)->>'sha256' as sha256, coalesce((to_jsonb(m)->>'requires')::integer, 0) as requires from migration m`)
  return new Map(rows.map(({ number, ...applied }) => [number, applied]))
}

/** Splits SQL at semicolons at the end of a line, except between `$$` quotes. The extended protocol takes one statement at a time. */
function splitStatements(text: string) {
  const statements: string[] = []
  let current = ''
  for (const line of text.split('\n')) {
    current += `${line}\n`
    const quoted = current.split('$$').length % 2 === 0
    if (!quoted && line.trimEnd().endsWith(';') && !line.trimStart().startsWith('--')) {
      statements.push(current)
      current = ''
    }
  }
  return current.trim() ? [...statements, current] : statements
}
