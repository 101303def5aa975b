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

/** The process numbers that requests were answered by, as the log has them. */
const answeredBy = () =>
  new Set(
    server.err
      .split('\n')
      .filter(line => line.includes('"msg":"request"'))
      .map(line => JSON.parse(line).pid as number),
  )

const workers = () => findWorkerPids(server)

async function untilBothServe() {
  await waitUntil(async () => {
    await Promise.all(Array.from({ length: 8 }, () => sendGet(server, '/stores', access)))
    return workers().length === 2 && workers().every(pid => answeredBy().has(pid))
  }, 'both workers serve')
}

test('two processes serve one port with WEB_CONCURRENCY=2', async () => {
  assert.match(server.out, /with 2 processes\.$/m)
  await untilBothServe()
  assert.ok(!workers().includes(server.pid))
})

test('a killed worker is replaced while the other one serves', async () => {
  const [victim = 0, survivor = 0] = workers()
  process.kill(victim, 'SIGKILL')
  await waitUntil(() => server.err.includes('starting another one'), 'its parent knows')
  assert.equal((await sendGet(server, '/stores', access)).status, 200)
  await waitUntil(() => workers().length === 2, 'it is replaced')
  assert.ok(workers().includes(survivor))
  await untilBothServe()
})

test('a halted or killed worker leaves new connections to the other', async () => {
  const [halted = 0] = workers()
  process.kill(halted, 'SIGSTOP')
  const responses = await Promise.all(Array.from({ length: 8 }, () => sendGet(server, '/stores', access)))
  for (const response of responses) assert.equal(response.status, 200)
  process.kill(halted, 'SIGKILL')
  await untilBothServe()
})

test('workers killed during an outage are replaced afterwards', async () => {
  const [first = 0] = workers()
  process.kill(first, 'SIGKILL')
  process.kill(findPostgresPid(dataDir) ?? 0, 'SIGKILL')
  await waitUntil(() => workers().length === 2 && !workers().includes(first), 'it is replaced', 20_000)
  await untilBothServe()
})

test('a revocation applies in every process within 5 seconds', async t => {
  const other = await createServiceAccess(environment, 'other')
  const statuses = async () =>
    new Set(
      (await Promise.all(Array.from({ length: 8 }, () => sendGet(server, '/stores', other)))).map(
        response => response.status,
      ),
    )
  assert.deepEqual(await statuses(), new Set([200]))
  await runSuccessfully(['account', 'revoke', other.username], environment)
  const revokedAt = performance.now()
  let lastSeen = revokedAt
  while (performance.now() - revokedAt < 6_000) {
    const seen = await statuses()
    if (seen.has(200)) lastSeen = performance.now()
    await delay(100)
  }
  t.diagnostic(`admitted for the last time ${Math.round(lastSeen - revokedAt)} ms after the revocation`)
  assert.ok(lastSeen - revokedAt < 5_000)
})

for (const [title, target] of [
  ['SIGTERM', (pid: number) => pid],
  ['SIGTERM to the whole group of processes', (pid: number) => -pid],
] as const)
  test(`${title} lets every worker finish and exits with 0`, async () => {
    await untilBothServe()
    const [postgres, pids] = [findPostgresPid(dataDir) ?? 0, workers()]
    const other = await connectToDatabase(dataDir)
    await other.query('begin')
    await other.query('lock table customer in access exclusive mode')
    // Each asks the database for itself, which those who begin to walk a list do not.
    const slow = Array.from({ length: 6 }, () => sendGet(server, '/customers/nobody', access))
    const waiting = 'select from pg_locks where not granted'
    await waitUntil(async () => ((await other.query(waiting)).rowCount ?? 0) >= 6, 'the requests wait')
    process.kill(target(server.pid), 'SIGTERM')
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
  const pids = workers()
  await stopServer(server, 'SIGKILL')
  await waitUntil(() => !pids.some(isRunning), 'the workers end')
  server = await serve(['--no-demo'], { ...environment, LOG_LEVEL: 'debug' })
  await untilBothServe()
})
