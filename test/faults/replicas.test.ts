import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { haltPostgresWhile } from '../../scenarios/support/halt.ts'
import { buildConninfo, buildDatabaseUrl, startStandby } from '../../scenarios/support/standby.ts'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase, raw, sql } from '../../src/database/db.ts'
import { currentLsn, parseLsn } from '../../src/database/replicas/lsn.ts'
import type { Postgres } from '../../src/postgres/postgres.ts'
import { connect, type OpenedDatabase } from '../../src/runtime/installation/connect.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { buildCustomers, paginate } from '../support/paginate.ts'
import { createDirectory, runCommand, waitUntil } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { type SeparateDatabase, startSeparateDatabase } from './own-postgres.ts'

/** Runs a statement on a server. Returns its rows. */
async function querySql(server: Postgres, statement: string) {
  const db = openDatabase(server.connection, { max: 1, acceptStandby: true, onFault: () => {} })
  try {
    return await db.rows<Record<string, string>>(raw(statement))
  } finally {
    await db.close()
  }
}

describe('two replicas', () => {
  const home = createDirectory()
  const standbys: Postgres[] = []
  const notices: string[] = []
  let primary: SeparateDatabase
  let opened: OpenedDatabase
  /** A server that also reads from the replicas. */
  let api: TestApi
  /** A server of the same installation that uses only the primary. */
  let primaryOnlyApi: TestApi

  const getState = (i: number) => opened.replicas?.[i]?.health.state
  const waitForStates = (...expected: string[]) =>
    waitUntil(() => expected.every((state, i) => getState(i) === state), `the replicas are ${expected}`, 60_000)
  const sumCounts = () =>
    (opened.replicas ?? []).reduce(
      (sum, { counts }) => ({ answered: sum.answered + counts.answered, behind: sum.behind + counts.behind }),
      { answered: 0, behind: 0 },
    )
  const buildEnvironment = () => ({
    DATABASE_URL: primary.connection,
    DATABASE_READ_URL: buildDatabaseUrl(standbys, primary.postgres.connection.database),
  })

  before(async () => {
    const settings = { max_wal_senders: '10', autovacuum: 'off' }
    primary = await startSeparateDatabase(join(home, 'primary'), settings)
    for (const name of ['one', 'two'])
      standbys.push(await startStandby(join(home, name), primary, { fsync: 'off', ...settings }))
    const config = readConfig(buildEnvironment())
    opened = await connect(config, config.databaseUrl ?? '', {
      replicas: true,
      onNotice: notice => void notices.push(notice),
    })
    api = await startTestApi({
      database: { db: opened.db, connection: primary.connection, drop: opened.close },
      settings: { readsPerMinute: 'off' },
    })
    primaryOnlyApi = await startTestApi({ sharedWith: api })
    await upsertCustomers(primary.db, api.service, buildCustomers(1, 250))
    await waitForStates('ready', 'ready')
  })
  after(async () => {
    await primaryOnlyApi?.stop()
    await api?.stop()
    for (const standby of standbys) await standby.stop()
    await primary?.drop()
  })

  /** Returns the IDs of all customers, from all pages of their list. */
  const listIds = async (caller: TestApi) => (await paginate(caller, '/customers/search?limit=100')).ids

  test('replicas serve pages, changes and exports once caught up', async () => {
    await waitUntil(async () => {
      const answeredBefore = sumCounts().answered
      await upsertCustomers(primary.db, api.service, [{ id: 'new', firstname: `Ann ${answeredBefore}` }])
      const list = await paginate(api, '/customers/search?limit=100')
      assert.equal(list.records.find(({ id }) => id === 'new')?.firstname, `Ann ${answeredBefore}`)
      // Replicas can serve all pages except the first. Waits until each replica has served one.
      return (opened.replicas ?? []).every(({ counts }) => counts.answered > 0)
    }, 'both replicas serve reads')
    assert.deepEqual(await listIds(api), await listIds(primaryOnlyApi))

    const lines = await api.get('/customers/search', { accept: 'application/x-ndjson' })
    assert.equal(lines.text.trim().split('\n').length, 251)
    const [actual, expected] = await Promise.all(
      [api, primaryOnlyApi].map(shop => shop.get('/changes?kinds=customer&limit=1000&records=true')),
    )
    assert.deepEqual(actual?.json.data, expected?.json.data)
    assert.equal(actual?.json.data.length, 251)
  })

  test('cursors are valid between processes with and without replicas', async () => {
    const first = await primaryOnlyApi.get('/customers/search?limit=100')
    const second = await api.get(`/customers/search?limit=100&after_cursor=${first.json.meta.endCursor}`)
    const other = await api.get('/customers/search?limit=100')
    const third = await primaryOnlyApi.get(`/customers/search?limit=100&after_cursor=${other.json.meta.endCursor}`)
    assert.deepEqual([second.status, second.json?.data], [200, third.json?.data])
    assert.equal(second.json.data.length, 100)
  })

  test('a lagging replica serves only sessions whose data it has', async () => {
    const firstPage = await api.get('/customers/search?limit=100')
    const secondPage = `/customers/search?limit=100&after_cursor=${firstPage.json.meta.endCursor}`
    await waitUntil(async () => {
      const { answered } = sumCounts()
      await api.get(secondPage)
      return sumCounts().answered > answered
    }, 'a replica serves the second page')
    for (const standby of standbys) await querySql(standby, 'select pg_wal_replay_pause()')
    try {
      await upsertCustomers(primary.db, api.service, buildCustomers(1, 50, 'Bea'))
      const { answered, behind } = sumCounts()
      const stale = await api.get(secondPage)
      assert.equal(sumCounts().answered, answered + 1, 'a replica must serve the session that it has the data of')
      const current = await primaryOnlyApi.get(secondPage)
      const ids = new Set(current.json.data.map(({ id }: { id: string }) => id))
      const staleIds = stale.json.data.map(({ id }: { id: string }) => id)
      assert.ok(staleIds.every((id: string) => ids.has(id) || id <= '000050'))
      const { records } = await paginate(api, '/customers/search?limit=100')
      assert.equal(records.filter(({ firstname }) => firstname === 'Bea').length, 50)
      assert.deepEqual(
        records.map(({ id }) => id),
        await listIds(primaryOnlyApi),
      )
      assert.equal(sumCounts().answered, answered + 1, 'no replica may serve the new session')
      assert.ok(sumCounts().behind > behind)
    } finally {
      for (const standby of standbys) await querySql(standby, 'select pg_wal_replay_resume()')
    }
    await waitUntil(async () => {
      const { answered } = sumCounts()
      await listIds(api)
      return sumCounts().answered > answered
    }, 'the replicas have caught up')
  })

  test('hanging replicas are bypassed and used again after recovery', async () => {
    const [first, second] = standbys as [Postgres, Postgres]
    const expected = await listIds(primaryOnlyApi)
    await haltPostgresWhile(first.pid, () =>
      haltPostgresWhile(second.pid, async () => {
        const lists = await Promise.all(Array.from({ length: 20 }, () => listIds(api)))
        for (const ids of lists) assert.deepEqual(ids, expected)
        await waitForStates('unreachable', 'unreachable')
        assert.deepEqual(await listIds(api), expected)
      }),
    )
    await waitForStates('ready', 'ready')
    assert.match(notices.join('\n'), /Replica .* skipped: it is unreachable: .* The primary answers instead\./)
    assert.match(notices.join('\n'), /Replica .* used again\./)
  })

  test('an idle primary with a new WAL file causes no lag', async () => {
    await upsertCustomers(primary.db, api.service, [{ id: 'new', firstname: 'Bo' }])
    await waitUntil(async () => {
      const row = await primary.db.row<{ lsn: string }>(sql`
        with begun as materialized (select pg_switch_wal()) select ${currentLsn} as lsn from begun`)
      return parseLsn(row?.lsn ?? '').at % (1n << 20n) === 0n
    }, 'the WAL position is at the start of a new file')
    await waitUntil(async () => {
      const { answered } = sumCounts()
      await listIds(api)
      return sumCounts().answered > answered
    }, 'a replica serves reads')
  })

  test('another database of the same servers is not used', async () => {
    await querySql(primary.postgres, 'create database another')
    const config = readConfig({ ...buildEnvironment(), DATABASE_READ_URL: buildDatabaseUrl(standbys, 'another') })
    const other = await connect(config, config.databaseUrl ?? '', { replicas: true, skipMigrations: true })
    after(() => other.close())
    const listStates = () => (other.replicas ?? []).map(({ health: status }) => status.state)
    await waitUntil(() => listStates().every(state => state === 'another_log'), 'the replicas are not used', 60_000)
  })

  test('a role that cannot see replication falls back to the primary', async () => {
    const { database } = primary.postgres.connection
    await querySql(
      primary.postgres,
      `create role reader login password 'reader' in role ${primary.postgres.connection.user}`,
    )
    const url = buildDatabaseUrl(standbys, database).replace(/\/\/[^@]*@/, '//reader:reader@')
    const config = readConfig({ ...buildEnvironment(), DATABASE_READ_URL: url })
    const other = await connect(config, config.databaseUrl ?? '', { replicas: true, skipMigrations: true })
    after(() => other.close())
    const { out } = await runCommand(['doctor'], {
      ...buildEnvironment(),
      DATABASE_READ_URL: url,
      DATA_DIR: join(home, 'data'),
    })
    assert.match(out, /^FAIL {2}Replicas +.*: the primary of its WAL is unknown: grant pg_read_all_stats to its role/m)
    assert.ok((other.replicas ?? []).every(({ health: status }) => status.state === 'unknown'))
    await querySql(primary.postgres, 'grant pg_read_all_stats to reader')
    await waitUntil(
      () => (other.replicas ?? []).every(({ health: status }) => status.state === 'ready'),
      'the replicas are used',
      60_000,
    )
  })

  test('a promoted replica and its followers are no longer used', async () => {
    const [first, second] = standbys as [Postgres, Postgres]
    // The second replica follows the first one, so it can't be ahead of it.
    await querySql(second, `alter system set primary_conninfo = '${buildConninfo(first)}'`)
    await querySql(second, 'select pg_reload_conf()')
    await waitUntil(
      async () => (await querySql(first, 'select from pg_stat_replication')).length === 1,
      'the second replica follows the first one',
    )
    await querySql(first, 'select pg_promote()')
    await waitForStates('no_standby', 'another_log')
    await upsertCustomers(primary.db, api.service, buildCustomers(1, 3, 'Cleo'))
    const { answered } = sumCounts()
    const { records } = await paginate(api, '/customers/search?limit=100')
    assert.equal(records.filter(({ firstname }) => firstname === 'Cleo').length, 3)
    assert.equal(sumCounts().answered, answered)
    const { out } = await runCommand(['doctor'], { ...buildEnvironment(), DATA_DIR: join(home, 'data') })
    assert.match(out, /^FAIL {2}Replicas +.*: it is not a standby\n +.*: it follows another primary/m)
  })
})
