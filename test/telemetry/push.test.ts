import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startCollector } from '../support/collector.ts'
import { installWithAccess } from '../support/installations/installations.ts'
import {
  type Credentials,
  createDirectory,
  type RunningServer,
  runCommand,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

let collector: Awaited<ReturnType<typeof startCollector>>
let server: RunningServer
let access: Credentials

before(async () => {
  collector = await startCollector()
  const dataDir = { DATA_DIR: join(createDirectory(), 'data') }
  access = await installWithAccess(dataDir)
  server = await serve(['--no-demo'], {
    ...dataDir,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=canary-key',
    OTEL_SERVICE_NAME: 'shop-till',
    OTEL_TRACES_SAMPLER: 'always_on',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    OTEL_LOGS_EXPORTER: 'otlp',
    ACCESS_LOG: 'true',
    LOG_LEVEL: 'info',
  })
})
after(async () => {
  await stopServer(server)
  await collector.close()
})

const route = '/customers/:id'
const requests = 40
const findRequests = () =>
  collector.metrics.get('tillbridge_http_requests_total')?.points.filter(point => point.attributes.route === route) ??
  []

test('metrics are pushed with units, and one series per route', async () => {
  for (let i = 0; i < requests; i++)
    assert.equal((await sendGet(server, `/customers/unknown-${i}`, access)).status, 404)
  await waitUntil(() => findRequests()[0]?.asDouble === requests, 'the requests are pushed', 30_000)
  assert.deepEqual(collector.errors, [])
  assert.deepEqual(
    findRequests().map(({ attributes }) => attributes),
    [{ route, method: 'GET', status: '404' }],
  )
  const counter = collector.metrics.get('tillbridge_http_requests_total')
  assert.equal(counter?.isMonotonic, true)
  assert.equal(counter?.temporality, 2)
  const durations = collector.metrics.get('tillbridge_http_request_duration_seconds')
  assert.equal(durations?.unit, 's')
  const series = durations?.points.filter(point => point.attributes.route === route) ?? []
  assert.equal(series.length, 1)
  const [{ count, sum = 0, bucketCounts = [], explicitBounds = [] } = assert.fail()] = series
  assert.equal(Number(count), requests)
  assert.equal(
    bucketCounts.reduce((total, part) => total + part, 0),
    requests,
  )
  assert.equal(bucketCounts.length, explicitBounds.length + 1)
  assert.ok(sum > 0)
  assert.equal(collector.metrics.get('tillbridge_resident_memory_bytes')?.unit, 'By')
  assert.equal(collector.metrics.get('tillbridge_database_up')?.points[0]?.asDouble, 1)
  const names = [...collector.metrics.keys()].join(' ')
  assert.doesNotMatch(names, /_bucket|_count\b/)
})

test('log lines are pushed with their trace and without secrets', async () => {
  const findLines = () => collector.logs.filter(({ attributes }) => attributes['http.route'] === route)
  await waitUntil(() => findLines().length === requests, 'the log lines are pushed', 30_000)
  const [line = assert.fail()] = findLines()
  assert.equal(line.body, 'request')
  assert.equal(line.severityText, 'INFO')
  assert.equal(line.attributes['http.response.status_code'], 404)
  assert.equal(line.resource['service.name'], 'shop-till')
  await waitUntil(() => collector.spans.some(({ traceId }) => traceId === line.traceId), 'its span is exported')
  const span = collector.spans.find(({ traceId }) => traceId === line.traceId)
  assert.equal(span?.resource['service.instance.id'], line.resource['service.instance.id'])
  assert.ok(server.err.includes(`"trace_id":"${line.traceId}"`), 'standard error must have the line too')
  for (const secret of [access.password, 'canary-key', 'unknown-1'])
    assert.ok(!collector.bodies.some(body => body.includes(secret)), secret)
  assert.ok(collector.requestHeaders.every(headers => headers['x-key'] === 'canary-key'))
})

test('an unavailable collector delays no request and is logged', async () => {
  collector.statuses.push(...Array<number>(1_000).fill(400))
  await waitUntil(() => server.err.includes('metric export failed'), 'the failure is logged', 30_000)
  assert.equal((await sendGet(server, '/stores', access)).status, 200)
  await waitUntil(() => server.err.includes('log export failed'), 'lost log records are logged', 30_000)
  collector.statuses.length = 0
  await waitUntil(() => server.err.includes('metric export resumed'), 'the recovery is logged', 30_000)
  const countLogs = (result: string) =>
    collector.metrics.get('tillbridge_log_records_total')?.points.find(point => point.attributes.result === result)
      ?.asDouble ?? 0
  await waitUntil(() => countLogs('sent') >= requests && countLogs('lost') > 0, 'lost log records are counted', 30_000)
})

test('an exporter without a collector is rejected', async () => {
  const { code, err } = await runCommand(['start'], { OTEL_METRICS_EXPORTER: 'otlp', OTEL_LOGS_EXPORTER: 'otlp' })
  assert.equal(code, 1)
  assert.match(err, /OTEL_METRICS_EXPORTER=otlp requires OTEL_EXPORTER_OTLP_ENDPOINT/)
  assert.match(err, /OTEL_LOGS_EXPORTER=otlp requires OTEL_EXPORTER_OTLP_ENDPOINT/)
})
