import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildahMissing, findComposeObstacle } from '../../scenarios/packaging/image/requirements.ts'
import { scenarios } from '../../scenarios/scenarios.ts'
import { listChildPids } from '../../scenarios/support/children.ts'
import { debianPostgresMissing } from '../../scenarios/support/debian-postgres.ts'
import { faketimeMissing, haproxyMissing } from '../../scenarios/support/haproxy.ts'
import { patroniMissing } from '../../scenarios/support/patroni.ts'
import { isRunning } from '../support/postgres/processes.ts'
import { checkout, runCommand, startCommand, waitUntil } from '../support/processes.ts'

// Short forms of scenarios, which take minutes in their long form.

const runScenario = (...args: string[]) =>
  runCommand(args, {}, { program: [process.execPath, join(checkout, 'scenarios/run.ts')] })

/** Runs a scenario. Returns the lines of its checks. Fails if a check fails. */
async function runAndListChecks(...args: string[]) {
  const { code, out, err } = await runScenario(...args)
  assert.equal(code, 0, `${err}\n${out}`)
  return out.split('\n').filter(line => line.startsWith('✔'))
}

test('--help and an unknown name list the scenarios', async () => {
  const [{ code, out }, unknown] = await Promise.all([runScenario('--help'), runScenario('weather')])
  assert.equal(code, 0)
  assert.match(out, /^ {2}halted-database {2}/m)
  assert.deepEqual([unknown.code, unknown.out], [1, out])
})

test('--help of a scenario describes it and runs nothing', async () => {
  const files = Object.values(scenarios).map(({ file }) => new URL(`../../scenarios/${file}`, import.meta.url).href)
  // One process for all, because most modules are the same. Each `--help` ends by `process.exit`, which throws here.
  const script = `
    process.argv.push('--help')
    process.exit = code => { throw { code } }
    for (const file of ${JSON.stringify(files)})
      await import(file).then(() => console.log('no help'), end => console.log('exit', end.code ?? end))`
  const imports = new URL('../../src/module-hooks.js', import.meta.url).href
  const program = [process.execPath, '--import', imports, '--input-type=module', '-e', script, '--'] as const
  const { code, out, err } = await runCommand(['scenario'], {}, { program })
  assert.equal(code, 0, err)
  const helps = out.split(/^exit 0\n/m)
  assert.equal(helps.pop(), '')
  assert.equal(helps.length, files.length)
  for (const [i, name] of Object.keys(scenarios).entries()) {
    assert.match(helps[i] ?? '', new RegExp(`^Usage: npm run scenario -- ${name} `), name)
    assert.match(helps[i] ?? '', new RegExp(`^Examples?:\\n +npm run scenario -- ${name}`, 'm'), name)
  }
})

/** Returns the process IDs of all descendants of a process. */
const listDescendants = (pid: number): number[] =>
  listChildPids(pid).flatMap(child => [child, ...listDescendants(child)])

test('SIGTERM ends a scenario and all processes that it started', {
  timeout: 120_000,
  skip: process.platform !== 'linux' && 'processes are read from /proc',
}, async () => {
  const scenario = startCommand(['crowds'], {}, { program: [process.execPath, join(checkout, 'scenarios/run.ts')] })
  const readCommand = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  const isServing = (pid: number) => readCommand(pid).includes('src/cli.js')
  await waitUntil(() => listDescendants(scenario.pid).some(isServing), 'Tillbridge is started', 60_000)
  const descendants = listDescendants(scenario.pid)
  scenario.child.kill('SIGTERM')
  assert.equal((await scenario.ended).code, 143)
  await waitUntil(() => !descendants.some(isRunning), 'all processes have ended', 30_000)
})

test('malformed JSON and naughty strings cause no error of the server', { timeout: 200_000 }, async () => {
  assert.ok((await runAndListChecks('outsiders', '--no-schemathesis')).length >= 3)
})

test('a halted PostgreSQL and a killed session lose and repeat no write', {
  timeout: 200_000,
}, async () => {
  assert.equal((await runAndListChecks('halted-database', '--seconds', '7', '--clients', '3')).length, 7)
})

test('floods of requests by many clients do not block the process', { timeout: 200_000 }, async () => {
  const options = [
    '--only',
    'pipelined',
    '--clients',
    '30',
    '--seconds',
    '2',
    '--max-live',
    '3000',
    '--max-turn',
    '150',
  ]
  assert.equal((await runAndListChecks('hostile', ...options)).length, 5)
})

test('the last units are sold once while a process is killed', { timeout: 200_000 }, async () => {
  const options = ['--clients', '30', '--rounds', '2', '--units', '10', '--kills', '10']
  assert.equal((await runAndListChecks('last-units', ...options)).length, 7)
})

test('units that tills of Apparel21 sell are not sold again', { timeout: 200_000 }, async () => {
  const options = ['--clients', '20', '--rounds', '1', '--units', '10', '--kills', '0', '--till-sales', '1']
  assert.equal((await runAndListChecks('last-units', '--back-office', 'apparel21', ...options)).length, 8)
})

test('restarts behind HAProxy fail no request', {
  timeout: 600_000,
  skip: haproxyMissing ?? faketimeMissing,
}, async () => {
  assert.equal(
    (await runAndListChecks('processes', '--seconds', '4', '--clients', '1', '--rounds', '1', '--pause', '500')).length,
    8,
  )
})

test('a service with many rows moves with a pause below 5 s', {
  timeout: 300_000,
}, async () => {
  assert.equal((await runAndListChecks('move', '--rows', '5000', '--pause', '300')).length, 5)
})

test('a failover to a synchronous standby loses and repeats nothing', {
  timeout: 600_000,
  skip: debianPostgresMissing,
}, async () => {
  assert.equal((await runAndListChecks('failover', '--seconds', '1', '--clients', '3', '--pause', '50')).length, 5)
})

test('an asynchronous standby loses only writes within its reported lag', {
  timeout: 600_000,
  skip: debianPostgresMissing,
}, async () => {
  assert.equal(
    (await runAndListChecks('failover', '--asynchronous', '--seconds', '1', '--clients', '3', '--pause', '50')).length,
    5,
  )
})

test('a killed primary and a switchover under Patroni lose nothing', {
  timeout: 600_000,
  skip: patroniMissing,
}, async () => {
  // Only the long form compares times.
  const short = [
    '--seconds',
    '1',
    '--clients',
    '3',
    '--pause',
    '300',
    '--max-added',
    '60',
    '--faults',
    'kill',
    'switchover',
  ]
  assert.equal((await runAndListChecks('patroni', ...short)).length, 5)
})

test("clients polling through failing replicas end with the primary's records", {
  timeout: 600_000,
}, async () => {
  assert.equal((await runAndListChecks('replicas', '--seconds', '3', '--clients', '2', '--late', '1')).length, 5)
})

test('services move between three servers, and a killed server stops its own', {
  timeout: 600_000,
}, async () => {
  // Only the long form compares times, because a short run next to other tests is not representative.
  const short = ['--services', '6', '--moves', '2', '--seconds', '3', '--rate', '5', '--pause', '300', '--times', '0']
  assert.equal((await runAndListChecks('primaries', ...short)).length, 7)
})

test('clients that stall are disconnected and do not disturb others', {
  timeout: 200_000,
}, async () => {
  assert.equal(
    (await runAndListChecks('crowds', '--handshakes', '20', '--slow', '20', '--readers', '20', '--crowds', '1')).length,
    9,
  )
})

// Without containers, the test imitates them.
const withoutCompose = findComposeObstacle()

test('the image is built from the Dockerfile and runs unprivileged', {
  timeout: 300_000,
  skip: withoutCompose && buildahMissing,
}, async () => {
  if (withoutCompose) assert.equal((await runAndListChecks('image', '--here')).length, 10)
  else assert.equal((await runAndListChecks('compose')).length, 8)
})

test('imports that are killed resume, and exports equal them byte by byte', {
  timeout: 300_000,
}, async () => {
  assert.equal((await runAndListChecks('millions', '--lines', '12000', '--kills', '1')).length, 5)
})
