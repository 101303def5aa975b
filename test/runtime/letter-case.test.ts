import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { createDirectory, runCommand } from '../support/processes.ts'

let database: TestDatabase
before(async () => {
  database = await createDatabase(() => `template template0 encoding 'UTF8' locale_provider libc locale 'C'`)
})
after(() => database.drop())

test('a database that distinguishes É and é is rejected with a remedy', async () => {
  const environment = { DATA_DIR: join(createDirectory(), 'data'), DATABASE_URL: database.connection }
  for (const command of [['start', '--no-demo'], ['migrate'], ['doctor']]) {
    const { code, out, err } = await runCommand(command, environment)
    assert.equal(code, 1, out)
    assert.match(out + err, /can't compare email addresses regardless of case.*create database .* locale 'C\.UTF-8'/s)
  }
})
