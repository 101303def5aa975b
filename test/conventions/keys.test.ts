import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { retainedTables } from '../../src/store/shards/control-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** Tables whose keys can omit the service, each with the reason. */
const exceptions: Record<string, string> = {
  service: 'it is the list of services',
  account: 'an account belongs to the installation and can use several services',
  account_password: 'passwords belong to an account',
  console_session: 'a session belongs to an account, and each request names its service',
  console_link: 'a link signs in an account, not a service',
  second_factor: 'a second factor belongs to an account',
  console_sign_in: 'a sign-in belongs to a person, and the identity provider returns the services',
  installation: 'its data applies to all services',
  shard: 'a shard holds many services',
  failure: 'failures are counted before the account is authenticated',
  migration: 'it is the state of the schema',
  database_clock: 'it is the clock of the PostgreSQL server',
}

test('every key of every table begins with the service', async () => {
  const keys = await database.db.rows<{
    table: string
    kind: string
    name: string
    first: string
    target: string | null
  }>(sql`
    select c.relname as table, case when i.indisprimary then 'primary key' else 'unique' end as kind, x.relname as name, a.attname as first, null as target
      from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
      left join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
     where c.relnamespace = 'public'::regnamespace and (i.indisprimary or i.indisunique)
    union all
    select c.relname, 'foreign key', k.conname, a.attname, f.relname
      from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class f on f.oid = k.confrelid
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
     where k.contype = 'f' and c.relnamespace = 'public'::regnamespace`)
  const wrongKeys = keys.filter(
    key =>
      key.first !== 'service_id' &&
      !Object.hasOwn(exceptions, key.table) &&
      !(key.target && Object.hasOwn(exceptions, key.target)),
  )
  assert.deepEqual(wrongKeys, [])
  const tables = await database.db.rows<{ name: string; keyed: boolean }>(sql`
    select relname as name, exists (select from pg_index where indrelid = c.oid and (indisprimary or indnullsnotdistinct)) as keyed
      from pg_class c where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`)
  assert.deepEqual(
    tables.filter(({ keyed }) => !keyed),
    [],
  )
  assert.deepEqual(
    [...Object.keys(exceptions), ...retainedTables].filter(name => !tables.some(table => table.name === name)),
    [],
    'each exception and each retained table must exist',
  )
})
