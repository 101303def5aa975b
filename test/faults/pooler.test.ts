import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Database, openDatabase, sql } from '../../src/database/db.ts'
import { lockImportType } from '../../src/import/pipeline/import-type-lock.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { hasPreparedStatements, pgBouncerMissing, startPgBouncer } from '../support/pgbouncer.ts'
import { createDirectory, runCommand, runSuccessfully, waitUntil } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'

describe('PgBouncer in transaction mode', { skip: pgBouncerMissing }, () => {
  const home = createDirectory()
  const tracksStatements = !pgBouncerMissing && hasPreparedStatements()
  let direct: TestDatabase
  let pooler: Awaited<ReturnType<typeof startPgBouncer>>
  let db: Database
  let api: TestApi
  const buildEnvironment = () => ({
    DATABASE_URL: pooler.connection,
    DATA_DIR: join(home, 'data'),
    SECRET_KEY: api.secret,
  })

  before(async () => {
    direct = await createTestDatabase()
    // Fewer connections than concurrent clients, so that clients share them.
    pooler = await startPgBouncer(direct.connection, [
      'default_pool_size = 4',
      ...(tracksStatements ? ['max_prepared_statements = 500'] : []),
    ])
    db = openDatabase(pooler.connection, { max: 12, pooled: true, onFault: () => {} })
    api = await startTestApi({ database: { db, connection: pooler.connection, drop: () => db.close() } })
  })
  after(async () => {
    await api?.stop()
    await pooler?.stop()
    await direct?.drop()
  })

  test('start and doctor reject an undeclared pooler with a remedy', async () => {
    const [ignoring, started] = await Promise.all([
      startPgBouncer(direct.connection, ['ignore_startup_parameters = options']),
      runCommand(['start', '--no-demo'], buildEnvironment()),
    ])
    try {
      assert.equal(started.code, 1)
      assert.match(started.err, /^tillbridge: DATABASE_URL names a connection pooler.*Set DATABASE_POOLER=transaction/m)
      const { code, out } = await runCommand(['doctor'], { ...buildEnvironment(), DATABASE_URL: ignoring.connection })
      assert.equal(code, 1)
      assert.match(out, /^FAIL {2}Database +DATABASE_URL names a connection pooler/m)
    } finally {
      await ignoring.stop()
    }
  })

  test('a pooler in session mode is rejected with the true reason', async () => {
    const session = await startPgBouncer(direct.connection, ['pool_mode = session'])
    try {
      const { code, err } = await runCommand(['start', '--no-demo'], {
        ...buildEnvironment(),
        DATABASE_URL: session.connection,
      })
      assert.equal(code, 1)
      assert.match(err, /names a connection pooler that doesn't keep the session settings of a client/)
    } finally {
      await session.stop()
    }
  })

  test('concurrent keyed writes are stored once and reach every reader', async () => {
    const bodies = Array.from({ length: 40 }, () => buildCustomer())
    const pageBefore = await api.get('/customers/search?limit=1')
    const responses = await Promise.all(
      bodies.flatMap(body => {
        const key = withKey()
        const create = () => post(api, '/customers', body, key)
        return [create().then(async first => [first, await create()] as const)]
      }),
    )
    for (const [first, again] of responses) {
      assert.deepEqual(
        [first.status, again.status, again.headers['idempotent-replayed']],
        [201, 201, 'true'],
        first.text,
      )
      assert.equal(again.text, first.text)
    }
    const since = encodeURIComponent(pageBefore.json.meta.asOf)
    const page = await api.get(`/customers/search?updated_after=${since}&limit=100`)
    assert.equal(page.json.data.length, bodies.length)
  })

  test('a failed statement is reported and does not affect the next', async () => {
    await assert.rejects(db.run(sql`select 1 / ${0}::integer`), { code: '22012' })
    const statements = Array.from({ length: 30 }, (_, i) => db.row<{ i: number }>(sql`select ${i}::integer as i`))
    assert.deepEqual(
      (await Promise.all(statements)).map(row => row?.i),
      Array.from({ length: 30 }, (_, i) => i),
    )
    const zone = await db.row<{ zone: string; limit: string }>(
      sql`select current_setting('timezone') as zone, current_setting('statement_timeout') as limit`,
    )
    assert.deepEqual(zone, { zone: 'UTC', limit: '15s' })
  })

  test('named statements are prepared only by a pooler that tracks them', async () => {
    const select = sql`select name from pg_prepared_statements where statement like ${'%pg_prepared_statements%'}`
    const names = await Promise.all(Array.from({ length: 8 }, () => db.rows<{ name: string }>(select)))
    const isPrepared = names.flat().some(({ name }) => name.startsWith('PGBOUNCER_'))
    assert.equal(isPrepared, tracksStatements)
    assert.deepEqual(
      names.flat().filter(({ name }) => !name.startsWith('PGBOUNCER_')),
      [],
    )
  })

  test('statements skipped after a failure can be repeated through the pooler', async () => {
    const statement = (i: number) => sql`select ${i}::integer as skipped`
    const single = openDatabase(pooler.connection, { max: 1, pooled: true })
    try {
      const failing = single.transaction(tx =>
        Promise.all([tx.run(sql`select 1 / ${0}::integer`), tx.rows(statement(1))]),
      )
      await assert.rejects(failing, { code: '22012' })
      for (const i of [2, 3]) assert.deepEqual(await single.row(statement(i)), { skipped: i })
      const { rows } = await single.pool.query(`select 1 as one`)
      assert.deepEqual(rows, [{ one: 1 }])
      assert.equal(single.pool.totalCount, 1)
    } finally {
      await single.close()
    }
  })

  test('equal texts of writes and reads have separate plans', { skip: !tracksStatements }, async () => {
    const writes = openDatabase(pooler.connection, { max: 1, pooled: true, genericPlans: true })
    try {
      const select = sql`select count(*)::integer as count from pg_prepared_statements where statement like ${'%own plans%'} -- own plans`
      await Promise.all([writes.rows(select), db.rows(select)])
      const texts = await Promise.all(
        Array.from({ length: 8 }, () =>
          db.rows<{ statement: string }>(
            sql`select statement from pg_prepared_statements where statement like ${'%-- own plans%'}`,
          ),
        ),
      )
      const genericFlags = new Set(texts.flat().map(({ statement }) => statement.includes('-- generic plan')))
      assert.deepEqual([...genericFlags].sort(), [false, true])
    } finally {
      await writes.close()
    }
  })

  test('an import waits for another import of its type', async () => {
    const releaseFirst = await lockImportType(db, api.service, 'staff')
    let isWaiting = false
    const secondReleases: (() => void)[] = []
    const locked = lockImportType(db, api.service, 'staff', {
      onWait: () => {
        isWaiting = true
      },
    }).then(release => {
      secondReleases.push(release)
    })
    await waitUntil(() => isWaiting, 'the second import waits')
    assert.equal(secondReleases.length, 0)
    releaseFirst()
    await locked
    for (const release of secondReleases) release()
  })

  test('imports and backups leave no session state behind', async () => {
    const environment = { ...buildEnvironment(), DATABASE_POOLER: 'transaction' }
    const staff = join(home, 'staff.csv')
    writeFileSync(staff, 'id,code,surname\n1,A,Lee\n2,B,Smith\n')
    await runSuccessfully(['import', 'staff', staff, '--service', api.service.name], environment)
    assert.equal((await api.get('/staff')).json.data.length, 2)
    const backup = join(home, 'backup')
    await runSuccessfully(['backup', backup], environment)
    assert.ok(existsSync(backup))
    const plain = openDatabase(pooler.connection, { max: 1, pooled: true })
    try {
      for (let i = 0; i < 8; i++) {
        const { rows } = await plain.pool.query(
          `select current_setting('statement_timeout') as limit,
                  (select count(*)::integer from pg_prepared_statements where name not like 'PGBOUNCER%') as prepared`,
        )
        assert.deepEqual(rows, [{ limit: '0', prepared: 0 }])
      }
    } finally {
      await plain.close()
    }
  })
})
