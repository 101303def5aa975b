import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { installWithAccess } from '../support/installations/installations.ts'
import { isRunning } from '../support/postgres/processes.ts'
import {
  connectToDatabase,
  createDirectory,
  createServiceAccess,
  findPostgresPid,
  findWorkerPids,
  type RunningServer,
  runSuccessfully,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const environment = { DATA_DIR: join(createDirectory(), 'data'), WEB_CONCURRENCY: '2' }
const dataDir = environment.DATA_DIR
let server: RunningServer
let access: Awaited<ReturnType<typeof installWithAccess>>

before(async () => {
  access = await installWithAccess(environment)
  server = await serve(['--no-demo'], { ...environment, LOG_LEVEL: 'debug' })
})
after(() => stopServer(server))

/** Returns the IDs of the processes that have logged requests. */
const getRespondingPids = () =>
  new Set(
    server.err
      .split('\n')
      .filter(line => line.includes('"msg":"request"'))
      .map(line => JSON.parse(line).pid as number),
  )

const getWorkerPids = () => findWorkerPids(server)

async function waitUntilBothServe() {
  await waitUntil(async () => {
    await Promise.all(Array.from({ length: 8 }, () => sendGet(server, '/stores', access)))
    return getWorkerPids().length === 2 && getWorkerPids().every(pid => getRespondingPids().has(pid))
  }, 'both workers respond')
}

test('two processes serve one port with WEB_CONCURRENCY=2', async () => {
  assert.match(server.out, /with 2 processes\.$/m)
  await waitUntilBothServe()
  assert.ok(!getWorkerPids().includes(server.pid))
})

test('a killed worker is replaced while the other one serves', async () => {
  const [victim = 0, survivor = 0] = getWorkerPids()
  process.kill(victim, 'SIGKILL')
  await waitUntil(() => server.err.includes('starting another one'), 'the parent logs the end of the worker')
  assert.equal((await sendGet(server, '/stores', access)).status, 200)
  await waitUntil(() => getWorkerPids().length === 2, 'the worker is replaced')
  assert.ok(getWorkerPids().includes(survivor))
  await waitUntilBothServe()
})

test('a halted or killed worker leaves new connections to the other', async () => {
  const [halted = 0] = getWorkerPids()
  process.kill(halted, 'SIGSTOP')
  const responses = await Promise.all(Array.from({ length: 8 }, () => sendGet(server, '/stores', access)))
  for (const response of responses) assert.equal(response.status, 200)
  process.kill(halted, 'SIGKILL')
  await waitUntilBothServe()
})

test('workers killed during an outage are replaced afterwards', async () => {
  const [first = 0] = getWorkerPids()
  process.kill(first, 'SIGKILL')
  process.kill(findPostgresPid(dataDir) ?? 0, 'SIGKILL')
  await waitUntil(
    () => getWorkerPids().length === 2 && !getWorkerPids().includes(first),
    'the worker is replaced',
    20_000,
  )
  await waitUntilBothServe()
})

test('a revocation applies in every process within 5 seconds', async t => {
  const other = await createServiceAccess(environment, 'other')
  const getStatuses = async () =>
    new Set(
      (await Promise.all(Array.from({ length: 8 }, () => sendGet(server, '/stores', other)))).map(
        response => response.status,
      ),
    )
  assert.deepEqual(await getStatuses(), new Set([200]))
  await runSuccessfully(['account', 'revoke', other.username], environment)
  const revokedAt = performance.now()
  let lastAdmittedAt = revokedAt
  while (performance.now() - revokedAt < 6_000) {
    const currentStatuses = await getStatuses()
    if (currentStatuses.has(200)) lastAdmittedAt = performance.now()
    await delay(100)
  }
  t.diagnostic(`admitted for the last time ${Math.round(lastAdmittedAt - revokedAt)} ms after the revocation`)
  assert.ok(lastAdmittedAt - revokedAt < 5_000)
})

for (const [title, getTarget] of [
  ['SIGTERM', (pid: number) => pid],
  ['SIGTERM to the whole group of processes', (pid: number) => -pid],
] as const)
  test(`${title} lets every worker finish and exits with 0`, async () => {
    await waitUntilBothServe()
    const [postgres, pids] = [findPostgresPid(dataDir) ?? 0, getWorkerPids()]
    const other = await connectToDatabase(dataDir)
    await other.query('begin')
    await other.query('lock table customer in access exclusive mode')
    // Each of these requests queries the database. Concurrent requests for a first page would share one query.
    const slow = Array.from({ length: 6 }, () => sendGet(server, '/customers/nobody', access))
    const waiting = 'select from pg_locks where not granted'
    await waitUntil(async () => ((await other.query(waiting)).rowCount ?? 0) >= 6, 'the requests wait')
    process.kill(getTarget(server.pid), 'SIGTERM')
    await delay(500)
    await other.query('commit')
    await other.end()
    for (const response of await Promise.all(slow)) assert.equal(response.status, 404)
    assert.deepEqual(await server.ended, { code: 0, signal: null })
    for (const pid of [...pids, postgres]) assert.ok(!isRunning(pid))
    assert.doesNotMatch(server.err.slice(-5_000), /ended unexpectedly, starting another/)
    server = await serve(['--no-demo'], { ...environment, LOG_LEVEL: 'debug' })
  })

test('workers end after kill -9 of their parent', async () => {
  const pids = getWorkerPids()
  await stopServer(server, 'SIGKILL')
  await waitUntil(() => !pids.some(isRunning), 'the workers end')
  server = await serve(['--no-demo'], { ...environment, LOG_LEVEL: 'debug' })
  await waitUntilBothServe()
})
