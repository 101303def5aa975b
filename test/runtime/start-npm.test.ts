import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { installWithAccess } from '../support/installations/installations.ts'
import { isRunning } from '../support/postgres/processes.ts'
import {
  checkout,
  connectToDatabase,
  createDirectory,
  findPostgresPid,
  runSuccessfully,
  sendGet,
  startCommand,
  waitUntil,
  waitUntilServing,
} from '../support/processes.ts'

const environment = { DATA_DIR: join(createDirectory(), 'data'), PORT: '0', LOG_LEVEL: 'warn' }
const dataDir = environment.DATA_DIR

/** Runs `npm start` as a user types it. */
async function runNpmStart() {
  const npm = startCommand(['start', '--', '--no-demo'], environment, { cwd: checkout, program: ['npm'] })
  return waitUntilServing(npm, environment)
}

const access = installWithAccess(environment)

// A terminal sends Ctrl-C to the whole process group. A process supervisor can signal npm alone.
for (const [title, signal, getTarget] of [
  ['Ctrl-C in the terminal of `npm start`', 'SIGINT', (pid: number) => -pid],
  ['SIGTERM to all processes of `npm start`', 'SIGTERM', (pid: number) => -pid],
  ['SIGTERM to npm alone', 'SIGTERM', (pid: number) => pid],
] as const)
  test(`${title} finishes running requests, stops PostgreSQL and exits with 0`, async () => {
    const credentials = await access
    const npm = await runNpmStart()
    const postgres = findPostgresPid(dataDir) ?? 0
    const lockingClient = await connectToDatabase(dataDir)
    await lockingClient.query('begin')
    await lockingClient.query('lock table customer in access exclusive mode')
    const slow = sendGet(npm, '/customers/search', credentials)
    await waitUntil(
      async () => (await lockingClient.query('select from pg_locks where not granted')).rowCount,
      'the request waits',
    )
    process.kill(getTarget(npm.pid), signal)
    await waitUntil(
      () =>
        sendGet(npm, '/health/live').then(
          () => false,
          () => true,
        ),
      'new connections are rejected',
    )
    await lockingClient.query('commit')
    await lockingClient.end()
    assert.equal((await slow).status, 200)
    assert.deepEqual(await npm.ended, { code: 0, signal: null })
    assert.ok(!isRunning(postgres))
    assert.doesNotMatch(npm.err, /"level":/)
  })

test("`npx tillbridge` is the checkout's command line", async () => {
  const output = await runSuccessfully(['tillbridge', 'service', 'list'], environment, {
    cwd: checkout,
    program: ['npx'],
  })
  assert.match(output, /^luma /m)
})
