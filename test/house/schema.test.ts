import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

let database: FreshDatabase
before(async () => {
  database = await freshDatabase()
})
after(() => database.drop())

test('every table and every function says what it is', async () => {
  const silent = await database.db.rows<{ name: string }>(sql`
    select relname as name from pg_class
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and obj_description(oid, 'pg_class') is null
    union all
    select proname || '()' from pg_proc where pronamespace = 'public'::regnamespace and obj_description(oid, 'pg_proc') is null
     order by 1`)
  assert.deepEqual(silent, [], 'each needs a `comment on`, beside what makes it')
})
