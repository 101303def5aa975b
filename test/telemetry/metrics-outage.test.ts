import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type SeparateDatabase, startSeparateDatabase } from '../faults/own-postgres.ts'
import {
  createDirectory,
  createServiceAccess,
  pickPort,
  type RunningServer,
  runSuccessfully,
  sendGet,
  serve,
  startCommand,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const home = createDirectory()
const host = '127.0.0.2'
const [serverPort, workerPort] = [pickPort(), pickPort()]
let database: SeparateDatabase
let environment: { DATA_DIR: string; DATABASE_URL: string; METRICS_HOST: string }
let server: RunningServer

const readMetrics = async (port: string) => {
  const response = await fetch(`http://${host}:${port}/metrics`)
  return { status: response.status, text: await response.text() }
}

before(async () => {
  database = await startSeparateDatabase(join(home, 'postgres'))
  environment = { DATA_DIR: join(home, 'data'), DATABASE_URL: database.connection, METRICS_HOST: host }
  const access = await createServiceAccess(environment)
  server = await serve(['--no-demo'], { ...environment, METRICS_PORT: serverPort, RUN_JOBS: 'false' })
  assert.equal((await sendGet(server, '/stores', access)).status, 200)
})
after(async () => {
  await stopServer(server)
  await database?.drop()
})

test('METRICS_HOST sets the address of the metrics port', async () => {
  assert.equal((await readMetrics(serverPort)).status, 200)
  await assert.rejects(fetch(`http://127.0.0.1:${serverPort}/metrics`))
})

test('the time of the newest backup is exported', async () => {
  assert.match((await readMetrics(serverPort)).text, /^tillbridge_backup_timestamp_seconds\{database="control"\} 0$/m)
  await runSuccessfully(['backup', join(home, 'backup')], environment)
  const isFresh = async () => {
    const { text } = await readMetrics(serverPort)
    const [, seconds] = /^tillbridge_backup_timestamp_seconds\{database="control"\} (\S+)$/m.exec(text) ?? []
    return Math.abs(Date.now() / 1_000 - Number(seconds)) < 300
  }
  await waitUntil(isFresh, 'the backup is exported')
})

test('metrics follow the conventions that promtool checks', {
  skip: spawnSync('promtool', ['--version']).error && 'promtool (Debian: prometheus) is not installed',
}, async () => {
  const { text } = await readMetrics(serverPort)
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
})

test('a worker exposes its metrics', async () => {
  const worker = startCommand(['worker'], { ...environment, METRICS_PORT: workerPort })
  try {
    await waitUntil(() => worker.out.includes('Worker started'), 'the worker runs', 60_000)
    const { status, text } = await readMetrics(workerPort)
    assert.equal(status, 200)
    assert.match(text, /^tillbridge_database_connections\{pool="writes",state="idle"\} \d/m)
    assert.match(text, /^tillbridge_jobs_oldest_due_seconds\{kind="schedule-syncs"\} \d/m)
    assert.match(text, /^tillbridge_database_up 1$/m)
  } finally {
    await stopServer(worker)
  }
})

test('metrics of the process are exported while the database is unavailable', async () => {
  await database.postgres.stop()
  await waitUntil(
    async () => /^tillbridge_database_up 0$/m.test((await readMetrics(serverPort)).text),
    'the database is reported as down',
  )
  const { status, text } = await readMetrics(serverPort)
  assert.equal(status, 200)
  assert.match(text, /^tillbridge_http_requests_total\{route="\/stores",method="GET",status="200"\} 1$/m)
  assert.match(text, /^tillbridge_disk_free_bytes \d/m)
})
