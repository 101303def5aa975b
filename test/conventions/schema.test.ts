import assert from 'node:assert/strict'
import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { sql } from '../../src/database/db.ts'
import { listMigrationFiles, migrate, readRequiredMigration, toSha256Hex } from '../../src/database/migrate.ts'
import { createTestDatabase, getDatabaseEnvironment, type TestDatabase } from '../support/database.ts'
import { createDirectory, runCommand } from '../support/processes.ts'

const migrations = new URL('../../migrations/', import.meta.url)

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

test('every table, view and function has a comment', async () => {
  const uncommented = await database.db.rows<{ name: string }>(sql`
    select relname as name from pg_class
     where relkind in ('r', 'p', 'v') and relnamespace = 'public'::regnamespace and obj_description(oid, 'pg_class') is null
    union all
    select proname || '()' from pg_proc where pronamespace = 'public'::regnamespace and obj_description(oid, 'pg_proc') is null
     order by 1`)
  assert.deepEqual(uncommented, [], 'each must have a `comment on` next to its definition')
})

/** Reads the digests and names of the released migrations. */
async function readReleased() {
  const lines = (await readFile(new URL('released.sha256', migrations), 'utf8')).match(/^[^#\n].*$/gm) ?? []
  return lines.map(line => /^([0-9a-f]{64}) {2}(\w+\.sql)$/.exec(line)?.slice(1) ?? [line, ''])
}

test('a released migration never changes', async () => {
  const files = await listMigrationFiles()
  const released = await readReleased()
  assert.deepEqual(
    released.map(([, name]) => name),
    files.slice(0, released.length),
    'migrations/released.sha256 must list the released migrations in order, from the first one',
  )
  for (const [digest, name = ''] of released)
    assert.equal(
      toSha256Hex(await readFile(new URL(name, migrations), 'utf8')),
      digest,
      `${name} can't change after its release: add a new migration`,
    )
})

/** Statements that break processes of the previous release, which keep running during an upgrade. */
const breakingPatterns = [
  /\bdrop\s+(table|column|function|view|constraint|index|trigger)\b/,
  /\brename\b/,
  /\balter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b/,
  /\bset\s+not\s+null\b/,
  /\badd\s+column\s+(?![^,;]*\bdefault\b)[^,;]*\bnot\s+null\b/,
  /\balter\s+table\s+\w+\s+add\s+(constraint\s+\w+\s+)?(check|unique|foreign\s+key|primary\s+key)\b/,
]

/** Returns the error of a migration that follows a release, or undefined. `latestReleased` is the number of the last released migration. */
function findMigrationError(text: string, latestReleased: number): string | undefined {
  const required = readRequiredMigration(text)
  if (required > latestReleased) return `requires ${required}, but the previous release knows ${latestReleased}`
  const statements = text
    .toLowerCase()
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/'[^']*'/g, "''")
  const breakingPattern = breakingPatterns.find(pattern => pattern.test(statements))
  return breakingPattern && !required
    ? `needs "-- contract: requires NNNN" in its first line: ${breakingPattern}`
    : undefined
}

test('a migration after a release lets the previous release run', async () => {
  const released = await readReleased()
  for (const name of released.length ? (await listMigrationFiles()).slice(released.length) : [])
    assert.equal(
      findMigrationError(await readFile(new URL(name, migrations), 'utf8'), released.length),
      undefined,
      name,
    )
  for (const text of [
    'create table next (id integer not null);\n',
    "alter table stock add column next integer not null default 0;\ncomment on column stock.next is 'To drop column x.';\n",
    '-- contract: requires 0015\nalter table stock drop column sold_at;\n',
  ])
    assert.equal(findMigrationError(text, 15), undefined)
  for (const text of [
    'alter table stock drop column sold_at;\n',
    'alter table stock rename column sold_at to taken_at;\n',
    'alter table stock alter column sold_at type text;\n',
    'alter table stock alter column sold_at set not null;\n',
    'alter table stock add column next integer not null;\n',
    'alter table stock add constraint positive check (free_stock > 0);\n',
    '-- contract: requires 0016\nalter table stock drop column sold_at;\n',
  ])
    assert.ok(findMigrationError(text, 15), text)
})

test('two processes starting together migrate an empty database once', async () => {
  const fresh = await createTestDatabase()
  try {
    await fresh.db.pool.query('drop schema public cascade; create schema public')
    const applied = await Promise.all([migrate(fresh.db), migrate(fresh.db)])
    assert.deepEqual(applied.flat().sort(), await listMigrationFiles())
  } finally {
    await fresh.drop()
  }
})

test('a database with different migration text is rejected and unchanged', async () => {
  const fresh = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'tillbridge-migrations-'))
  const [, second = ''] = await listMigrationFiles()
  const changed = join(folder, second)
  const next = `${String((await listMigrationFiles()).length + 1).padStart(4, '0')}_next.sql`
  const runMigrations = () => migrate(fresh.db, { folder: pathToFileURL(`${folder}/`) })
  try {
    await cp(migrations, folder, { recursive: true })
    await writeFile(join(folder, next), 'create table next (id integer);\n')
    const original = await readFile(changed, 'utf8')
    await appendFile(changed, '-- An afterthought.\n')
    const rejection = { message: new RegExp(`^Migration ${second} has changed since this database applied it: .+\\.$`) }
    await assert.rejects(runMigrations(), rejection)
    const tables = await fresh.db.rows(sql`select from pg_tables where tablename = 'next'`)
    assert.equal(tables.length, 0)

    await writeFile(changed, original)
    assert.deepEqual(await runMigrations(), [next])
    assert.deepEqual(await runMigrations(), [])
  } finally {
    await rm(folder, { recursive: true })
    await fresh.drop()
  }
})

test('start reports a changed migration in one line', async () => {
  const fresh = await createTestDatabase()
  try {
    const settings = { DATA_DIR: join(createDirectory(), 'data'), ...getDatabaseEnvironment(fresh), PORT: '0' }
    const rejected = /^tillbridge: Migration 0001_services\.sql has changed since this database applied it: .+\.\n$/
    await fresh.db.run(sql`update migration set sha256 = ${toSha256Hex('')} where number = 1`)
    const { code, err } = await runCommand(['start'], settings)
    assert.equal(code, 1)
    assert.match(err, rejected)

    // Restores the table of databases from before the first release.
    await fresh.db.run(sql`alter table migration drop column sha256`)
    assert.match((await runCommand(['migrate'], settings)).err, rejected)
  } finally {
    await fresh.drop()
  }
})
