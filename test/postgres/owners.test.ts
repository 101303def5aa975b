import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startPostgres } from '../../src/postgres/postgres.ts'
import { createPostgresHome } from '../support/installations/installations.ts'
import {
  cleanUp,
  createTemporaryDirectory,
  isRunning,
  listProcesses,
  needsOpenCheckout,
  needsProc,
  needsRoot,
  runQuery,
  startOwner,
  startServer,
  unprivileged,
} from '../support/postgres/processes.ts'
import { waitUntil } from '../support/processes.ts'

test('a second start on one data directory is rejected in one line', async t => {
  const home = await createPostgresHome(t)
  const first = await startServer(t, home)
  const line = `${home} is in use by process ${process.pid}. Only one process can own it.`
  await assert.rejects(startPostgres(home), { message: line })
  fs.symlinkSync(home, `${home}-link`)
  cleanUp(t, () => fs.rmSync(`${home}-link`))
  const second = await startOwner(t, `${home}-link`)
  assert.equal(second.error, line)
  assert.deepEqual(await runQuery(first.connection, 'select 1 as value'), [{ value: 1 }])
})

test('one of several processes starting together owns the directory', async t => {
  const home = createTemporaryDirectory(t)
  const owners = await Promise.all([1, 2, 3, 4].map(() => startOwner(t, home)))
  const [owner, ...furtherWinners] = owners.filter(start => start.error === undefined)
  assert.ok(owner)
  assert.equal(furtherWinners.length, 0)
  for (const failed of owners.filter(start => start !== owner))
    assert.match(failed.error ?? '', /in use by process \d+\./)
})

test('the server of a killed process stops automatically', { skip: needsProc }, async t => {
  const killed = await startOwner(t, await createPostgresHome(t))
  killed.process.kill('SIGKILL')
  await waitUntil(() => !isRunning(killed.pid), 'the server ends')
})

test('a directory is free after kill -9 with all committed data', async t => {
  const home = await createPostgresHome(t)
  const killed = await startOwner(t, home)
  await runQuery(killed.connection, 'create table kept as select 1 as value')
  killed.process.kill('SIGKILL')
  await once(killed.process, 'exit')
  const startedAt = performance.now()
  const next = await startServer(t, home)
  t.diagnostic(`start after a kill -9 of the owner: ${Math.round(performance.now() - startedAt)} ms`)
  assert.ok(performance.now() - startedAt < 8_000, 'the old server must end before it is killed after 10 s')
  assert.deepEqual(await runQuery(next.connection, 'select value from kept'), [{ value: 1 }])
})

test('a leftover server does not block the next owner', { skip: needsProc }, async t => {
  const home = await createPostgresHome(t)
  const killed = await startOwner(t, home)
  await runQuery(killed.connection, 'create table kept as select 1 as value')
  const watchdog = listProcesses().find(({ line }) => line.includes('read -r') && line.endsWith(` ${killed.pid}`))
  assert.ok(watchdog)
  process.kill(watchdog.pid, 'SIGKILL')
  killed.process.kill('SIGKILL')
  await once(killed.process, 'exit')
  assert.deepEqual(await runQuery(killed.connection, 'select value from kept'), [{ value: 1 }])
  const startedAt = performance.now()
  const next = await startServer(t, home)
  t.diagnostic(`start over a running orphan: ${Math.round(performance.now() - startedAt)} ms`)
  assert.ok(performance.now() - startedAt < 8_000, 'the old server must end before it is killed after 10 s')
  assert.ok(!isRunning(killed.pid), 'the old server must have ended')
  assert.deepEqual(await runQuery(next.connection, 'select value from kept'), [{ value: 1 }])
})

test('a reused process ID must look like a running server', async t => {
  // Only root can enter the directory, so that the server runs as root like the other process.
  const home = join(createTemporaryDirectory(t, 0o700), 'postgres')
  const first = await startServer(t, home)
  await first.stop()
  const otherProcess = spawn('sleep', ['60'])
  cleanUp(t, () => otherProcess.kill())
  const file = join(home, 'data/postmaster.pid')
  fs.writeFileSync(file, `${otherProcess.pid}\n${join(home, 'data')}\n1\n5432\n\n\n 1 1\n`, { mode: 0o600 })
  const { uid, gid } = fs.statSync(join(home, 'data'))
  fs.chownSync(file, uid, gid)
  const second = await startServer(t, home)
  assert.deepEqual(await runQuery(second.connection, 'select 1 as value'), [{ value: 1 }])
  assert.equal(otherProcess.exitCode ?? otherProcess.signalCode, null)
})

test('Ctrl-C keeps the database running for requests in progress', async t => {
  const owner = await startOwner(t, await createPostgresHome(t), { detached: true })
  process.kill(-(owner.process.pid ?? 0), 'SIGINT')
  assert.equal(await owner.nextLine(), '{"value":1}')
  assert.deepEqual(await once(owner.process, 'exit'), [0, null])
})

test('a process that does not stop its server still ends', { skip: needsProc }, async t => {
  const owner = await startOwner(t, await createPostgresHome(t), { script: 'process.stdin.unref()' })
  await once(owner.process, 'exit')
  await waitUntil(() => !isRunning(owner.pid), 'the server ends')
})

test('root runs the server as another user if the directory permits', {
  skip: needsOpenCheckout,
}, async t => {
  const parent = createTemporaryDirectory(t, 0o755)
  const home = join(parent, 'postgres')
  const open = await startServer(t, home)
  assert.notEqual(fs.statSync(join(home, 'data/base')).uid, 0)
  await runQuery(open.connection, 'create table kept as select 1 as value')
  await open.stop()
  fs.chmodSync(parent, 0o700)
  const closed = await startServer(t, home)
  assert.equal(fs.statSync(join(home, 'data/base')).uid, 0)
  await runQuery(closed.connection, 'insert into kept values (2)')
  await closed.stop()
  fs.chmodSync(parent, 0o755)
  const reopened = await startServer(t, home)
  assert.notEqual(fs.statSync(join(home, 'data/base')).uid, 0)
  assert.deepEqual(await runQuery(reopened.connection, 'select value from kept'), [{ value: 1 }, { value: 2 }])
})

test('root gets instructions if no user can run the server', { skip: needsRoot }, async t => {
  const parent = createTemporaryDirectory(t, 0o700)
  fs.chownSync(parent, 12_345, 12_345)
  await assert.rejects(startPostgres(join(parent, 'postgres')), {
    message: /^PostgreSQL can't run as root, .+ Run as a normal user, or set DATABASE_URL\.$/,
  })
})

test("a normal user runs the server, except in another's directory", {
  skip: needsOpenCheckout,
}, async t => {
  const home = createTemporaryDirectory(t)
  fs.chownSync(home, unprivileged.uid, unprivileged.gid)
  const normal = await startOwner(t, home, unprivileged)
  assert.equal(normal.error, undefined)
  assert.equal(fs.statSync(join(home, 'data')).uid, unprivileged.uid)
  const other = await startOwner(t, createTemporaryDirectory(t, 0o755), unprivileged)
  assert.match(
    other.error ?? '',
    /can't be locked by user 65534: unable to open database file\. It belongs to user 0\. Run this as that user or/,
  )
})

test('root keeps the owner of a database that a user created', {
  skip: needsOpenCheckout,
}, async t => {
  const home = createTemporaryDirectory(t)
  // A user that root would not choose automatically.
  const daemon = { uid: 1, gid: 1 }
  fs.chownSync(home, daemon.uid, daemon.gid)
  const created = await startOwner(t, home, daemon)
  assert.equal(created.error, undefined)
  created.process.stdin?.end()
  await once(created.process, 'exit')
  await (await startServer(t, home)).stop()
  for (const path of ['data', 'data/PG_VERSION', 'log'])
    assert.equal(fs.statSync(join(home, path)).uid, daemon.uid, path)
  assert.equal((await startOwner(t, home, daemon)).error, undefined)
})

test('a foreign owner of the database is named', { skip: needsOpenCheckout }, async t => {
  const home = createTemporaryDirectory(t)
  await (await startServer(t, home)).stop()
  fs.chownSync(join(home, 'data'), 1, 1)
  for (const name of ['.', 'owner.lock', 'owner.pid'])
    fs.chownSync(join(home, name), unprivileged.uid, unprivileged.gid)
  const { error } = await startOwner(t, home, unprivileged)
  assert.match(
    error ?? '',
    /data can't be read by user 65534\. It belongs to user 1\. Run this as that user or as root, or change/,
  )
})
