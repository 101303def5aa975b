import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { sql } from '../../src/database/db.ts'
import { listMigrationFiles, migrate } from '../../src/database/migrate.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { checkout, createDirectory, runCommand } from '../support/processes.ts'

test('doctor reports pending migrations and leaves older tables unchanged', async t => {
  const database = await createEmptyDatabase()
  t.after(() => database.drop())
  const names = await listMigrationFiles()
  const olderMigrations = createDirectory()
  for (const name of names.slice(0, -2))
    fs.copyFileSync(join(checkout, 'migrations', name), join(olderMigrations, name))
  await migrate(database.db, { folder: pathToFileURL(`${olderMigrations}/`) })
  const { code, out } = await runCommand(['doctor'], { DATA_DIR: createDirectory(), DATABASE_URL: database.connection })
  assert.equal(code, 1)
  assert.ok(
    out.includes(
      `Migrations are missing: ${names.slice(-2).join(', ')}. Run "tillbridge start" or "tillbridge migrate".`,
    ),
    out,
  )
  assert.match(out, /^FAIL {2}Services +Not checked: fix the database first\.$/m)
  assert.equal(await database.db.run(sql`select from migration`), names.length - 2)
})

test('doctor creates no tables in an empty database', async t => {
  const database = await createEmptyDatabase()
  t.after(() => database.drop())
  const { code, out } = await runCommand(['doctor'], { DATA_DIR: createDirectory(), DATABASE_URL: database.connection })
  assert.equal(code, 1)
  assert.match(out, /^FAIL {2}Database +The database has no tables yet\. Run "tillbridge start"/m)
  assert.equal(await database.db.run(sql`select from pg_tables where schemaname = 'public'`), 0)
})
