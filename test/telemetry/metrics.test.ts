import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { collectProcessSamples } from '../../src/runtime/metrics.ts'
import { metrics } from '../../src/telemetry/metric-list.ts'
import { formatExposition, mergeSamples, type Sample } from '../../src/telemetry/samples.ts'
import { installWithAccess } from '../support/installations/installations.ts'
import {
  createDirectory,
  type Environment,
  pickPort,
  type RunningServer,
  runCommand,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const port = pickPort()
const environment: Environment = { DATA_DIR: join(createDirectory(), 'data'), METRICS_PORT: port, WEB_CONCURRENCY: '2' }
let server: RunningServer
let access: Awaited<ReturnType<typeof installWithAccess>>

/** Fetches the metrics and checks their format. Returns the values by name and labels. */
async function readMetrics() {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const text = await response.text()
  const lines = text.trim().split('\n')
  for (const line of lines)
    assert.match(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z_]+="[^"]*",?)+\})? -?[\d.e+-]+)$/)
  const samples = lines.filter(line => !line.startsWith('#')).map(line => line.split(/ (?=[^ ]+$)/) as [string, string])
  return { text, values: new Map(samples.map(([name, value]) => [name, Number(value)])) }
}

before(async () => {
  access = await installWithAccess(environment)
  server = await serve(['--no-demo'], environment)
})
after(() => stopServer(server))

test('requests are counted across processes by route', async () => {
  for (const path of ['/stores', '/stores/', '/stores?limit=1'])
    for (let i = 0; i < 2; i++) assert.equal((await sendGet(server, path, access)).status, 200)
  for (const path of ['/customers/1', '/customers/2', '/customers/canary-9']) await sendGet(server, path, access)
  for (const path of ['/canary-1', '/canary-2/x']) assert.equal((await sendGet(server, path)).status, 404)
  const { text, values } = await readMetrics()
  assert.equal(values.get('tillbridge_http_requests_total{route="/stores",method="GET",status="200"}'), 6)
  assert.equal(values.get('tillbridge_http_requests_total{route="/customers/:id",method="GET",status="404"}'), 3)
  assert.doesNotMatch(text, /canary/)
  const getBucket = (upperBound: string) =>
    values.get(`tillbridge_http_request_duration_seconds_bucket{route="/stores",method="GET",le="${upperBound}"}`) ??
    Number.NaN
  assert.equal(getBucket('+Inf'), 6)
  assert.ok(getBucket('0.005') <= getBucket('0.1') && getBucket('0.1') <= getBucket('10'))
  assert.equal(values.get('tillbridge_http_request_duration_seconds_count{route="/stores",method="GET"}'), 6)
})

test('connections, event loop, jobs and alerts have documented metrics', async () => {
  const scheduled = 'tillbridge_jobs{kind="schedule-syncs",state="waiting"}'
  // The job is due at first, and then waits for its next run.
  await waitUntil(async () => (await readMetrics()).values.get(scheduled) === 1, 'the job waits for its next run')
  const { text, values } = await readMetrics()
  for (const pool of ['reads', 'writes'])
    for (const state of ['busy', 'idle', 'waiting'])
      assert.ok(values.has(`tillbridge_database_connections{pool="${pool}",state="${state}"}`), `${pool} ${state}`)
  assert.ok((values.get('tillbridge_event_loop_delay_seconds{percentile="99"}') ?? -1) >= 0)
  assert.ok((values.get('tillbridge_resident_memory_bytes') ?? 0) > 50e6)
  assert.ok((values.get('tillbridge_jobs_oldest_due_seconds{kind="schedule-syncs"}') ?? Number.NaN) < 60)
  for (const state of ['queued', 'failed'])
    assert.equal(values.get(`tillbridge_emails{state="${state}"}`), 0, 'the metric must exist without emails')
  const names = text.match(/^# TYPE (\S+)/gm) ?? []
  assert.equal(new Set(names).size, names.length)
})

/** Returns the names and labels of all metrics, each once, without the suffixes of histograms. */
const readSeries = (values: ReadonlyMap<string, number>) =>
  [...values.keys()].map(key => {
    const [, name = '', labels = ''] = /^([a-z_]+)(?:\{(.*)\})?$/.exec(key) ?? []
    return { name, labels: [...labels.matchAll(/([a-z_]+)="/g)].map(([, label = '']) => label) }
  })

test('exported metrics are in the list with their labels', async () => {
  const { values } = await readMetrics()
  const series = readSeries(values)
  assert.ok(series.length > 200)
  for (const { name, labels } of series) {
    const base = name.replace(/_(bucket|sum|count)$/, '')
    const metric = metrics[(base in metrics ? base : name) as keyof typeof metrics]
    assert.ok(metric, `${name} must be in the list`)
    const otherLabels = labels.filter(label => label !== 'le' && !(metric.labels as readonly string[]).includes(label))
    assert.deepEqual(otherLabels, [], name)
  }
})

test('requests, statements and connections also use OpenTelemetry names', async () => {
  const { values } = await readMetrics()
  const request = 'http_request_method="GET",http_route="/stores",http_response_status_code="200",url_scheme="https"'
  assert.equal(values.get(`http_server_request_duration_seconds_count{${request}}`), 6)
  assert.equal(values.get(`http_server_request_duration_seconds_bucket{${request},le="10"}`), 6)
  assert.equal(values.get('http_server_active_requests{http_request_method="GET",url_scheme="https"}'), 0)
  const statement = 'db_system_name="postgresql",db_operation_name="select"'
  assert.ok((values.get(`db_client_operation_duration_seconds_count{${statement}}`) ?? 0) > 6)
  assert.equal(values.get('db_client_connection_max{db_client_connection_pool_name="reads"}'), 3 * 6)
  assert.ok((values.get('tillbridge_disk_free_bytes') ?? 0) > 1e6)
  assert.ok((values.get('tillbridge_disk_size_bytes') ?? 0) > (values.get('tillbridge_disk_free_bytes') ?? 0))
  assert.ok((values.get('tillbridge_database_size_bytes') ?? 0) > 5e6)
  assert.match(String(values.get('tillbridge_postgres_minor_releases_behind{database="control"}')), /^\d+$/)
})

test('the metrics port serves only metrics, and no other port does', async () => {
  assert.equal((await fetch(`http://127.0.0.1:${port}/stores`)).status, 404)
  assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status, 404)
  assert.equal((await sendGet(server, '/metrics')).status, 404)
})

test('a taken port stops the start and is named', async () => {
  const { code, err } = await runCommand(['start', '--no-demo'], {
    DATA_DIR: join(createDirectory(), 'data'),
    PORT: '0',
    METRICS_PORT: port,
  })
  assert.equal(code, 1)
  assert.match(
    err,
    new RegExp(
      `tillbridge: Port ${port} of 127.0.0.1 is in use by another program. Set METRICS_PORT to a free port\\.`,
    ),
  )
})

test('a process without requests also reports its lost log lines', () => {
  const names = collectProcessSamples([{ backOffices: { listOpen: () => [] } as never }]).map(({ name }) => name)
  assert.ok(names.includes('tillbridge_log_lines_lost_total'))
})

test('metrics of several processes are summed or maximised with escaped labels', () => {
  const createSample = (value: number, overrides: Partial<Sample> = {}): Sample => ({
    name: 'a',
    type: 'gauge',
    help: 'An a.',
    labels: { of: 'x"y\\z\n' },
    value,
    ...overrides,
  })
  assert.equal(
    formatExposition(mergeSamples([[createSample(1)], [createSample(2)]])),
    '# HELP a An a.\n# TYPE a gauge\na{of="x\\"y\\\\z\\n"} 3\n',
  )
  const largest = mergeSamples([[createSample(3, { useMax: true })], [createSample(2, { useMax: true })]])
  assert.deepEqual(
    largest.map(({ value }) => value),
    [3],
  )
})
