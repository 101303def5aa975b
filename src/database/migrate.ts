import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, raw, sql } from './db.ts'
import { isContention } from './pg/contention.ts'

const bundledFolder = new URL('../../migrations/', import.meta.url)

/** The numbered migrations of a folder in their order: `0001_services.sql` … */
export async function migrationFiles(folder = bundledFolder) {
  return (await readdir(folder)).filter(name => /^\d{4}_\w+\.sql$/.test(name)).sort()
}

/** What tells two texts of a migration apart, as `sha256sum` writes it. */
export const toSha256Hex = (text: string) => createHash('sha256').update(text).digest('hex')

interface Migration {
  number: number
  name: string
  text: string
  sha256: string
}

const loadMigrations = async (folder: URL): Promise<Migration[]> =>
  Promise.all(
    (await migrationFiles(folder)).map(async name => {
      const text = await readFile(new URL(name, folder), 'utf8')
      return { number: Number(name.slice(0, 4)), name, text, sha256: toSha256Hex(text) }
    }),
  )

/**
 * Brings the database's schema up to date, forward only, each migration in a transaction of its own; its number goes in first,
 * so that of two processes one waits and finds it done. Returns the names that were applied. A database that is ahead of the folder, or
 * had another text of a migration, is refused: nobody knows what the next one would find there. `upTo` are the migrations that a backup
 * was made of: only these are applied, and refused where they are not ours.
 */
export async function migrate(
  db: MigrationTarget,
  {
    folder = bundledFolder,
    upTo,
  }: { folder?: URL; upTo?: readonly Pick<Migration, 'number' | 'name' | 'sha256'>[] } = {},
): Promise<string[]> {
  await createMigrationTable(db)
  const known = await loadMigrations(folder)
  const migrations = upTo ? selectBackupMigrations(known, upTo) : known
  const applied: string[] = []
  for (const migration of await selectPending(db, migrations))
    if (await applyMigration(db, migration)) applied.push(migration.name)
  return applied
}

/** What a database has not had yet, which is left as it is. Throws where it is refused. */
export async function findPendingMigrations(db: Database): Promise<string[]> {
  const found = await db.row<{ isThere: boolean }>(sql`select to_regclass('migration') is not null as "isThere"`)
  const known = await loadMigrations(bundledFolder)
  return (found?.isThere ? await selectPending(db, known) : known).map(({ name }) => name)
}

async function selectPending(db: MigrationTarget, migrations: Migration[]): Promise<Migration[]> {
  const had = await loadApplied(db)
  const changed = migrations.find(({ number, sha256 }) => had.has(number) && had.get(number) !== sha256)
  if (changed)
    throw new Error(
      `Migration ${changed.name} has changed since this database applied it: put the file back as it was (what else is to change is a new migration), or begin with an empty database.`,
    )
  const latest = Math.max(0, ...had.keys())
  if (latest > migrations.length)
    throw new Error(
      `The database is at migration ${latest}, this version knows ${migrations.length}: run a newer Tillbridge.`,
    )
  return migrations.slice(latest)
}

/** How often a migration is begun anew that the requests of a release that still runs stand in the way of. */
const maxAttempts = 60

/** Applies one, unless another process has. A table that is in use is waited for for a second at a time: behind that wait, all requests would stand in line. */
async function applyMigration(db: MigrationTarget, { number, name, text, sha256 }: Migration): Promise<boolean> {
  for (let attempt = 1; ; attempt++)
    try {
      return await db.transaction(async tx => {
        const fresh = await tx.run(
          sql`insert into migration (number, name, sha256) values (${number}, ${name}, ${sha256}) on conflict do nothing`,
        )
        if (!fresh) return false
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

/** Whether a lock did not come in time. */
const isLockTimeout = (error: unknown) => (error as { code?: unknown }).code === '55P03'

/** What is migrated: a database, or one transaction in it. */
type MigrationTarget = Pick<Database, 'rows' | 'transaction'>

function selectBackupMigrations(known: Migration[], wanted: readonly Pick<Migration, 'number' | 'name' | 'sha256'>[]) {
  const strange = wanted.find(({ sha256 }, i) => known[i]?.sha256 !== sha256)
  if (strange)
    throw new Error(
      `The backup was made of migration ${strange.name}, which this version ${known[strange.number - 1] ? 'has otherwise' : 'does not know'}: restore it with the Tillbridge that made it, or a newer one.`,
    )
  return known.slice(0, wanted.length)
}

const createMigrationTable = (db: MigrationTarget) =>
  db.transaction(async tx => {
    // Of two processes that make it at the same moment one would fail, for all its `if not exists`.
    await tx.run(sql`select pg_advisory_xact_lock(hashtext('tillbridge'), hashtext('migration'))`)
    // Asked beforehand: a transaction in which something has failed answers nothing more.
    const asked = await tx.row<{ role: string; database: string }>(sql`
      select quote_ident(current_user) as role, quote_ident(current_database()) as database`)
    const making = tx.run(sql`
      create table if not exists migration (
        number integer primary key,
        name text not null,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`)
    await making.catch(cause => {
      if (!asked || (cause as { code?: unknown }).code !== '42501') throw cause
      const { role, database } = asked
      throw new Error(
        `The role ${role} may make nothing in the database ${database}: alter database ${database} owner to ${role}`,
        { cause },
      )
    })
  })

/** The digests of the migrations that a database has had, by their numbers. */
async function loadApplied(db: MigrationTarget) {
  // As JSON, because the table of a database from before the first release has no digests: such a one is refused in words as well.
  const rows = await db.rows<{ number: number; sha256: string | null }>(
    sql`select number, to_jsonb(m)->>'sha256' as sha256 from migration m`,
  )
  return new Map(rows.map(({ number, sha256 }) => [number, sha256]))
}

/** Splits at semicolons that end a line, but for those between `$$` quotes: the extended protocol takes one statement at a time. */
function splitStatements(text: string) {
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
