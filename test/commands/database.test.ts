import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isRunning } from '../support/postgres/processes.ts'
import {
  checkout,
  connectToDatabase,
  createDirectory,
  findPassword,
  findPostgresPid,
  runCommand,
  runSuccessfully,
  serve,
  startCommand,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const environment = { DATA_DIR: join(createDirectory(), 'data') }

test('doctor reports missing parts on a fresh machine and creates nothing', async () => {
  const DATA_DIR = join(createDirectory(), 'data')
  const { code, out } = await runCommand(['doctor'], { DATA_DIR })
  assert.equal(code, 1)
  assert.match(out, /^PASS {2}Settings /m)
  assert.match(out, new RegExp(`^FAIL {2}Data +${DATA_DIR} must be a directory .*tillbridge start`, 'm'))
  assert.match(out, /^FAIL {2}Certificate +Not checked: fix the data directory first\.$/m)
  assert.match(out, /^FAIL {2}Database +Not checked: fix the data directory first\.$/m)
  assert.ok(!fs.existsSync(DATA_DIR))
})

test('a command on a directory without installation reports it and creates nothing', async () => {
  const DATA_DIR = createDirectory()
  const message = `No installation found in ${DATA_DIR}. Set DATA_DIR, or run "tillbridge start" to create one.`
  for (const args of [
    ['service', 'list'],
    ['service', 'add', 'luma', '--shard', 'eu-2'],
    ['account', 'list'],
    ['backup', join(DATA_DIR, 'backup')],
    ['worker'],
  ]) {
    const { code, out, err } = await runCommand(args, { DATA_DIR })
    assert.deepEqual([code, out, err], [1, '', `tillbridge: ${message}\n`])
  }
  assert.match((await runCommand(['doctor'], { DATA_DIR })).out, new RegExp(`^FAIL {2}Database +${message}$`, 'm'))
  assert.deepEqual(fs.readdirSync(DATA_DIR), ['tls'])
})

test('service add creates a database if necessary and prints its location', async () => {
  const DATA_DIR = join(createDirectory(), 'data')
  const first = await runCommand(['service', 'add', 'luma'], { DATA_DIR })
  assert.deepEqual([first.code, first.err], [0, `Creating a new database in ${DATA_DIR}.\n`])
  const second = await runCommand(['service', 'add', 'solo'], { DATA_DIR })
  assert.deepEqual([second.code, second.err], [0, ''])
})

test('doctor names every invalid setting', async () => {
  const { code, out } = await runCommand(['doctor'], { ...environment, PORT: 'x', WEB_CONCURRENCY: 'y' })
  assert.equal(code, 1)
  assert.match(out, /^FAIL {2}Settings +PORT must be .*\n {19}WEB_CONCURRENCY must be /m)
  for (const check of ['Data', 'Jobs'])
    assert.match(out, new RegExp(`^FAIL {2}${check} +Not checked: fix the settings first\\.$`, 'm'))
})

test('migrate creates the tables and reports if nothing is to do', async () => {
  assert.match(await runSuccessfully(['migrate'], environment), /^Applied: 0001_\w+\.sql/)
  assert.equal(await runSuccessfully(['migrate'], environment), 'The database is up to date.\n')
})

test('doctor leads from an empty installation to a healthy one', async () => {
  const withoutService = await runCommand(['doctor'], environment)
  assert.equal(withoutService.code, 1)
  assert.match(
    withoutService.out,
    /^FAIL {2}Services +No service exists\. To create one: tillbridge service add <name>$/m,
  )
  await runSuccessfully(['service', 'add', 'luma'], environment)
  const withoutAccount = await runCommand(['doctor'], environment)
  assert.equal(withoutAccount.code, 1)
  assert.match(
    withoutAccount.out,
    /^FAIL {2}Services +No account has access to luma\. To create one: tillbridge account add <username> --service luma$/m,
  )
  await runSuccessfully(['account', 'add', 'webshop', '--service', 'luma'], environment)
  const withoutBackup = await runCommand(['doctor', '--json'], environment)
  assert.equal(withoutBackup.code, 1)
  assert.deepEqual(
    (JSON.parse(withoutBackup.out) as { check: string; ok: boolean }[])
      .filter(({ ok }) => !ok)
      .map(({ check }) => check),
    ['Backups'],
  )
  await runSuccessfully(['backup', join(environment.DATA_DIR, 'backup')], environment)
  const out = await runSuccessfully(['doctor'], environment)
  assert.deepEqual(
    out
      .trim()
      .split('\n')
      // The missing capabilities of a service follow on separate lines.
      .filter(line => !line.startsWith(' '))
      .map(line => line.split(/\s+/).slice(0, 2)),
    [
      ['PASS', 'Release'],
      ['PASS', 'Settings'],
      ['PASS', 'Data'],
      ['PASS', 'Certificate'],
      ['PASS', 'Database'],
      // The bundled server lacks the newest minor release.
      ['WARN', 'PostgreSQL'],
      ['PASS', 'Replicas'],
      ['PASS', 'Clock'],
      ['PASS', 'Disk'],
      ['PASS', 'Files'],
      ['PASS', 'Durability'],
      ['PASS', 'Secret'],
      ['PASS', 'Services'],
      ['PASS', 'Back'],
      ['PASS', 'Syncs'],
      ['PASS', 'Email'],
      ['PASS', 'Sign-in'],
      ['PASS', 'Jobs'],
      ['PASS', 'Alerts'],
      ['PASS', 'Backups'],
      ['PASS', 'Shards'],
      ['PASS', 'Moves'],
    ],
  )
  assert.match(out, /PostgreSQL \d+.*, tillbridge, \d+ migrations, bundled: for evaluation only$/m)
  assert.match(
    out,
    /^WARN {2}PostgreSQL +18\.\d+ lacks security fixes of 18\.\d+, the newest known on 20\d\d-\d\d-\d\d\. Update PostgreSQL\.$/m,
  )
})

test('a standalone command stops PostgreSQL afterwards', () => {
  assert.ok(!isRunning(findPostgresPid(environment.DATA_DIR) ?? 0))
  assert.ok(!fs.existsSync(join(environment.DATA_DIR, 'database.json')))
})

test('concurrent commands share PostgreSQL and the last one stops it', async () => {
  const names = ['a', 'b', 'c', 'd']
  await Promise.all(names.map(name => runSuccessfully(['service', 'add', name], environment)))
  const listed = await runSuccessfully(['service', 'list'], environment)
  for (const name of names) assert.match(listed, new RegExp(`^${name} `, 'm'))
  assert.ok(!isRunning(findPostgresPid(environment.DATA_DIR) ?? 0))
})

test('an interrupted demo is finished before PostgreSQL stops', async () => {
  const killed = startCommand(['demo', 'playground'], environment)
  await waitUntil(() => killed.out.includes('Stores: '), 'the demo shop is being created', 20_000)
  await stopServer(killed, 'SIGKILL')
  const first = startCommand(['demo', 'playground'], environment)
  await waitUntil(() => first.out.includes('Stores: '), 'the demo shop is being created', 20_000)
  const client = await connectToDatabase(environment.DATA_DIR)
  try {
    await waitUntil(() => first.out.includes('Password: '), 'the demo shop is created', 60_000)
    assert.equal((await client.query('select pg_sleep(1)')).rowCount, 1)
  } finally {
    await client.end()
  }
  assert.equal((await first.ended).code, 0)
  assert.match(first.out, /^Demo service playground created\. Account playground has the role admin\.$/m)
  assert.notEqual(findPassword(first.out), '')
  assert.doesNotMatch(await runSuccessfully(['service', 'list'], environment), /being created/)
})

test('demo rejects a taken name', async () => {
  const repeated = await runCommand(['demo', 'playground'], environment)
  assert.equal(repeated.code, 1)
  assert.equal(repeated.err, 'tillbridge: Service playground already exists.\n')
})

test('the command runs from any directory and as `npx tillbridge`', async () => {
  const cwd = createDirectory()
  assert.match(await runSuccessfully(['service', 'list'], environment, { cwd }), /^luma /m)
  assert.deepEqual(fs.readdirSync(cwd), [])
  const npx = { cwd: checkout, program: ['npx', 'tillbridge'] } as const
  assert.match(await runSuccessfully(['service', 'list'], environment, npx), /^luma /m)
  const service = await serve(['--no-demo'], { DATA_DIR: 'here' }, { cwd }).catch(error => error)
  assert.match(service.out, /serves/)
  assert.ok(fs.existsSync(join(cwd, 'here/database.json')))
  await stopServer(service)
})
