import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { haltPostgresWhile } from '../../scenarios/support/halt.ts'
import { buildDatabaseUrl, startStandby } from '../../scenarios/support/standby.ts'
import { openDatabase, sql } from '../../src/database/db.ts'
import { rememberTimelines } from '../../src/database/endpoints.ts'
import type { Postgres } from '../../src/postgres/postgres.ts'
import { startCollector } from '../support/collector.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import {
  createDirectory,
  createServiceAccess,
  pickPort,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'
import { buildAuthorization, createRequester } from '../support/servers.ts'
import { type SeparateDatabase, startSeparateDatabase } from './own-postgres.ts'

describe('a primary and its standby', () => {
  const home = createDirectory()
  let primary: SeparateDatabase
  let standby: Postgres
  const buildUrl = (servers: readonly Postgres[], ...otherServers: string[]) => {
    const url = buildDatabaseUrl(servers, primary.postgres.connection.database)
    return otherServers.reduce((all, server) => all.replace('@', `@${server},`), url)
  }
  const buildEnvironment = (url: string) => ({ DATABASE_URL: url, DATA_DIR: join(home, 'data') })
  async function setSynchronousStandby(name: string) {
    await primary.db.pool.query(`alter system set synchronous_standby_names = '${name}'`)
    await primary.db.pool.query('select pg_reload_conf()')
  }

  /** True if a commit waits for the standby. A reload takes effect later. */
  async function doesCommitWait() {
    const { pool } = primary.db
    const commit = pool.query(`select pg_logical_emit_message(true, 'probe', '')`)
    const hasEnded = await Promise.race([commit.then(() => true), delay(300, false)])
    if (hasEnded) return false
    const canceled = await pool.query(
      `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and query ~ 'emit_message'`,
    )
    await commit
    return canceled.rowCount === 1
  }

  before(async () => {
    primary = await startSeparateDatabase(join(home, 'primary'), { max_wal_senders: '10' })
    standby = await startStandby(join(home, 'standby'), primary, { fsync: 'off' })
  })
  after(async () => {
    await standby?.stop()
    await primary?.drop()
  })

  test('start and commands skip a standby that is named first', async () => {
    const environment = buildEnvironment(buildUrl([standby, primary.postgres]))
    const access = await createServiceAccess(environment, 'first')
    const server = await serve(['--no-demo'], environment)
    const statuses = await Promise.all(Array.from({ length: 10 }, () => sendGet(server, '/stores', access)))
    assert.deepEqual(new Set(statuses.map(({ status }) => status)), new Set([200]))
    assert.doesNotMatch(server.err, /connection to the database broke/)
    await stopServer(server)
  })

  test('start and commands find the primary among other servers', async () => {
    const environment = buildEnvironment(buildUrl([standby, primary.postgres], `127.0.0.1:${pickPort()}`))
    const access = await createServiceAccess(environment, 'second')
    const server = await serve(['--no-demo'], environment)
    const statuses = await Promise.all(Array.from({ length: 10 }, () => sendGet(server, '/stores', access)))
    assert.deepEqual(new Set(statuses.map(({ status }) => status)), new Set([200]))
    await stopServer(server)
  })

  test('a write that waits for a lost synchronous standby returns 504', async () => {
    const port = pickPort()
    const environment = buildEnvironment(buildUrl([primary.postgres, standby]))
    const access = await createServiceAccess(environment, 'third')
    const server = await serve(['--no-demo'], { ...environment, METRICS_PORT: port })
    const { username, password, serviceName } = access
    const caller = {
      url: server.baseUrl,
      ca: readFileSync(server.caFile ?? '', 'utf8'),
      headers: {
        authorization: buildAuthorization({ username }, password),
        'x-service-name': serviceName,
        'content-type': 'application/json',
      },
    }
    const sendRequest = createRequester({ baseUrl: caller.url, ca: caller.ca })
    const create = (key: string, text: string) =>
      sendRequest('/customers', { method: 'POST', headers: { ...caller.headers, 'idempotency-key': key }, body: text })
    assert.equal((await create('before', JSON.stringify(buildCustomer()))).status, 201)
    const body = JSON.stringify(buildCustomer())
    // A standby of this name never connects.
    await setSynchronousStandby('lost')
    try {
      await waitUntil(doesCommitWait, 'the setting takes effect')
      const waitingWrite = create('during', body)
      await waitUntil(
        async () => (await sendRequest('/health/ready')).json.data.writes === 'waiting',
        'readiness reports waiting writes',
        15_000,
      )
      assert.match(
        await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
        /^tillbridge_commits_waiting_seconds [1-9]/m,
      )
      assert.equal((await sendRequest('/stores', { headers: caller.headers })).status, 200)
      const response = await waitingWrite
      assert.deepEqual([response.status, response.json.code], [504, 'outcome_unknown'])
      const repeat = await create('during', body)
      assert.deepEqual([repeat.status, repeat.json.code], [409, 'idempotency_in_progress'])
    } finally {
      await setSynchronousStandby('')
    }
    await waitUntil(
      async () => (await sendRequest('/health/ready')).json.data.writes === 'ready',
      'commits end',
      15_000,
    )
    const repeat = await create('during', body)
    assert.deepEqual([repeat.status, repeat.headers['idempotent-replayed']], [201, 'true'])
    await stopServer(server)
  })

  test('a command names the standby if no primary is available', async () => {
    const { code, err } = await runCommand(['service', 'list'], buildEnvironment(buildUrl([standby])))
    assert.equal(code, 1)
    assert.match(err, /^tillbridge: The database is unreachable: \S+ is a standby.* Check DATABASE_URL\.\n$/)
  })

  test('a former primary that comes back gets no connections', async () => {
    const environment = buildEnvironment(buildUrl([primary.postgres, standby]))
    const access = await createServiceAccess(environment, 'fourth')
    const collector = await startCollector()
    const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
    const server = await serve(['--no-demo'], { ...environment, ...tracing, RUN_JOBS: 'false' })
    assert.equal((await sendGet(server, '/stores', access)).status, 200)
    await waitUntil(async () => {
      const db = openDatabase(standby.connection, { max: 1, acceptStandby: true, onFault: () => {} })
      return db.row(sql`select true as "is" from service where name = 'fourth'`).finally(() => db.close())
    }, 'the service is replicated')
    const hasSpanFor = ({ connection }: Postgres) =>
      collector.spans.some(({ attributes }) => attributes['server.address'] === connection.host)
    await waitUntil(() => hasSpanFor(primary.postgres), 'spans name the primary', 20_000)
    assert.equal(hasSpanFor(standby), false)
    await haltPostgresWhile(primary.postgres.pid, async () => {
      const db = openDatabase(standby.connection, { max: 1, acceptStandby: true, onFault: () => {} })
      await db.rows(sql`select pg_promote()`).finally(() => db.close())
      await waitUntil(
        async () => (await sendGet(server, '/stores', access)).status === 200,
        'requests succeed on the new primary',
        60_000,
      )
    })
    // Spans of statements name the server that executed them.
    await waitUntil(() => hasSpanFor(standby), 'spans name the new primary', 20_000)
    await collector.close()
    // The former primary is back and named first.
    await runSuccessfully(['service', 'add', 'after'], environment)
    assert.equal(await primary.db.row(sql`select true as "is" from service where name = 'after'`), undefined)
    // A pool that is connected to the former primary leaves it as soon as the process learns of the promotion.
    const url = buildUrl([primary.postgres, standby])
    const pooled = openDatabase(url, { onFault: () => {} })
    const findNewService = () => pooled.row(sql`select true as "is" from service where name = 'after'`)
    assert.deepEqual(await Promise.all([findNewService(), findNewService(), findNewService()]), [
      undefined,
      undefined,
      undefined,
    ])
    await rememberTimelines(url)
    for (let i = 0; i < 3; i++) assert.ok(await findNewService())
    await pooled.close()
    await haltPostgresWhile(primary.postgres.pid, async () => {
      // A hanging attempt ends when another server is the primary, long before its own limit.
      const bothDb = openDatabase(buildUrl([primary.postgres, standby]), { max: 1, onFault: () => {} })
      const haltedDb = openDatabase(buildUrl([primary.postgres]), { max: 1, onFault: () => {} })
      const order: string[] = []
      await Promise.allSettled([
        bothDb.row(sql`select 1`).then(() => order.push('the new primary answers')),
        haltedDb.row(sql`select 1`).catch(() => order.push('the attempt fails')),
      ])
      assert.deepEqual(order, ['the new primary answers', 'the attempt fails'])
      await Promise.all([bothDb.close(), haltedDb.close()])
    })
    await standby.stop()
    await waitUntil(
      async () => (await sendGet(server, '/stores', access)).status === 503,
      'no database server is available',
      30_000,
    )
    for (let i = 0; i < 5; i++) assert.equal((await sendGet(server, '/stores', access)).status, 503)
    await stopServer(server)
  })
})
