import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { openMailTransport } from '../../src/mail/transport.ts'
import { getExportCounts, startTelemetryExport } from '../../src/runtime/telemetry-export.ts'
import { startHttpServer } from '../apparel21/servers.ts'
import { connectToBackOffice } from '../drivers/apparel21.ts'
import { type ReceivedSpan, startCollector } from '../support/collector.ts'
import { installWithAccess } from '../support/installations/installations.ts'
import {
  createDirectory,
  type Environment,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'
import { captureLog } from '../support/servers.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { type SmtpSink, startSink } from '../support/smtp-sink.ts'
import { issueVoucher, stockGiftCards, voucherSettings } from '../support/voucher-shop.ts'

const account = `<RewardAccount><Id>7</Id><ProgramId>1</ProgramId><ProgramName>R</ProgramName><PersonId>3001</PersonId><PointsList Type="Array" /></RewardAccount>`
const receivedTraceparents: (string | undefined)[] = []
const captured = captureLog('info')

let collector: Awaited<ReturnType<typeof startCollector>>
let office: Awaited<ReturnType<typeof startHttpServer>>
let sink: SmtpSink
let api: TestApi
let officeCaller: Caller
let close: (() => Promise<void>) | undefined

const exportTracesTo = (url: string, samplerEnvironment: Environment = {}) =>
  startTelemetryExport(
    readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=canary-key',
      ...samplerEnvironment,
    }),
    captured.log,
  )

before(async () => {
  collector = await startCollector()
  sink = await startSink()
  office = await startHttpServer((request, response) => {
    receivedTraceparents.push(request.headers.traceparent as string | undefined)
    response.writeHead(200, { 'content-type': 'text/xml' }).end(account)
  })
  const { backOffice, client } = connectToBackOffice({ url: office.url })
  const embedded = await import('../../src/backoffice/embedded/embedded.ts')
  api = await startTestApi({
    settings: voucherSettings,
    backOffice: (service: Service) =>
      service.name === officeCaller?.service.name ? backOffice(service) : embedded.embedded(service),
  })
  after(() => client.close())
  officeCaller = await api.createService(voucherSettings)
  await stockGiftCards(api, api)
  close = await exportTracesTo(collector.url)
})
after(async () => {
  await api?.stop()
  await close?.()
  await office?.close()
  await sink?.close()
  await collector?.close()
})

/** Waits until the last span of a trace is exported. Returns all spans of the trace. */
async function waitForTrace(traceId: string, last: string): Promise<ReceivedSpan[]> {
  const findSpans = () => collector.spans.filter(span => span.traceId === traceId)
  await waitUntil(() => findSpans().some(({ name }) => name === last), `a span ${last} of ${traceId}`, 20_000)
  assert.deepEqual(collector.errors, [])
  return findSpans()
}

const findSpan = (spans: readonly ReceivedSpan[], name: string) =>
  spans.find(span => span.name === name) ?? assert.fail(`${name} is missing in ${spans.map(span => span.name)}`)

const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${parent.traceId}-${parent.spanId}-01`

test('a write, its statements, job and email form one trace', async () => {
  const response = await issueVoucher(api, { receiverEmail: 'canary@example.com' }, { traceparent })
  assert.equal(response.status, 201, response.text)
  const worker = startWorker({
    db: api.db,
    keys: api.keys,
    log: captured.log,
    mailTransport: openMailTransport({ smtpUrl: sink.url, dataDir: '' }),
  })
  try {
    const spans = await waitForTrace(parent.traceId, 'job send-email')
    const request = findSpan(spans, 'POST /vouchers')
    assert.equal(request.parentSpanId, parent.spanId)
    assert.equal(request.kind, 2)
    const { 'tillbridge.request_id': requestId, ...attributes } = request.attributes
    assert.equal(requestId, response.headers['x-request-id'])
    assert.deepEqual(attributes, {
      'client.address': '127.0.0.1',
      'url.scheme': 'https',
      'http.request.method': 'POST',
      'http.route': '/vouchers',
      'http.response.status_code': 201,
      'network.protocol.version': '1.1',
      'tillbridge.service': api.service.name,
      'tillbridge.account': api.username,
    })
    const { hostname, port: databasePort, pathname, searchParams } = new URL(api.database.connection)
    const database = {
      'server.address': searchParams.get('host') ?? hostname,
      'server.port': Number(databasePort || 5432),
      'db.namespace': pathname.slice(1),
    }
    for (const name of ['begin', 'insert voucher', 'insert job', 'insert audit', 'commit']) {
      const statement = findSpan(spans, name)
      assert.equal(statement.parentSpanId, request.spanId, name)
      assert.equal(statement.kind, 3)
      assert.equal(statement.attributes['db.system.name'], 'postgresql')
      assert.ok(statement.milliseconds <= request.milliseconds, name)
      const [operation, table] = name.split(' ')
      const { 'db.operation.name': actual, 'db.collection.name': collection } = statement.attributes
      assert.deepEqual([actual, collection], [operation, table])
      assert.partialDeepStrictEqual(statement.attributes, database)
    }
    const job = findSpan(spans, 'job send-email')
    assert.equal(job.parentSpanId, request.spanId)
    assert.equal(job.kind, 5)
    assert.equal(findSpan(spans, 'send mail').parentSpanId, job.spanId)
    const update = findSpan(spans, 'update email')
    assert.equal(update.parentSpanId, job.spanId)
    assert.partialDeepStrictEqual(update.attributes, database)
    assert.equal(request.resource['service.name'], 'tillbridge')
  } finally {
    await worker.stop(1_000)
  }
  assert.equal(sink.delivered.length, 1)
  assert.doesNotMatch(collector.bodies.join(''), /canary/)
  assert.ok(collector.requestHeaders.every(headers => headers['x-key'] === 'canary-key'))
})

test('a back office call belongs to the trace and propagates it', async () => {
  receivedTraceparents.length = 0
  const response = await officeCaller.get('/rewards/accounts/7')
  assert.equal(response.status, 200, response.text)
  const [sentTraceparent = ''] = receivedTraceparents
  const [, traceId = '', spanId] = sentTraceparent.split('-')
  const spans = await waitForTrace(traceId, 'GET /rewards/accounts/:id')
  const request = findSpan(spans, 'GET /rewards/accounts/:id')
  assert.equal(request.parentSpanId, undefined)
  const call = spans.find(span => span.spanId === spanId)
  assert.ok(call, 'the back office must receive the ID of an exported span')
  assert.equal(call.parentSpanId, request.spanId)
  assert.deepEqual(
    [call.kind, call.attributes['server.address'], call.attributes['http.response.status_code']],
    [3, '127.0.0.1', 200],
  )
})

test('a failed span has a code and no message', async () => {
  await office.close()
  const requestId = 'the-back-office-is-down'
  const response = await officeCaller.get('/rewards/accounts/8', { 'x-request-id': requestId })
  assert.equal(response.status, 503)
  const findRequestSpan = () => collector.spans.find(span => span.attributes['tillbridge.request_id'] === requestId)
  await waitUntil(findRequestSpan, 'the request is traced')
  const request = findRequestSpan()
  assert.deepEqual([request?.isFailed, request?.attributes['error.type']], [true, 'back_office_unavailable'])
  const call = collector.spans.find(span => span.parentSpanId === request?.spanId && span.kind === 3 && span.isFailed)
  assert.equal(call?.attributes['error.type'], 'unreachable')
})

test('an unsampled caller is not traced, and the ratio covers others', async () => {
  const { sent: sentBefore = 0 } = getExportCounts().spans
  const unsampled = '0af7651916cd43dd8448eb211c80319c'
  assert.equal((await api.get('/stores', { traceparent: `00-${unsampled}-b7ad6b7169203331-00` })).status, 200)
  await api.get('/stores', { traceparent, 'x-request-id': 'later' })
  await waitUntil(
    () => collector.spans.some(span => span.attributes['tillbridge.request_id'] === 'later'),
    'the later request is traced',
  )
  await waitUntil(() => (getExportCounts().spans.sent ?? 0) > sentBefore, 'sent spans are counted')
  assert.deepEqual(
    collector.spans.filter(span => span.traceId === unsampled),
    [],
  )
  await close?.()
  close = await exportTracesTo(collector.url, { OTEL_TRACES_SAMPLER_ARG: '0' })
  await api.get('/stores', { 'x-request-id': 'not-sampled' })
  await api.get('/stores', { traceparent, 'x-request-id': 'sampled-by-caller' })
  await waitUntil(
    () => collector.spans.some(span => span.attributes['tillbridge.request_id'] === 'sampled-by-caller'),
    'the requested trace is recorded',
  )
  assert.ok(!collector.spans.some(span => span.attributes['tillbridge.request_id'] === 'not-sampled'))
})

test('a sampler without parent uses the trace ID alone', async () => {
  await close?.()
  close = await exportTracesTo(collector.url, { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' })
  // The last 56 bits of the trace ID decide: values in the highest quarter are recorded.
  const recorded = ['0af7651916cd43dd84c0000000000000', '0af7651916cd43dd84ffffffffffffff']
  const unrecorded = ['0af7651916cd43dd84bfffffffffffff', '0af7651916cd43dd8400000000000001']
  for (const traceId of [...unrecorded, ...recorded])
    for (const flags of ['00', '01'])
      assert.equal((await api.get('/stores', { traceparent: `00-${traceId}-b7ad6b7169203331-${flags}` })).status, 200)
  const listSpans = (traceId: string) =>
    collector.spans.filter(span => span.traceId === traceId && span.name === 'GET /stores')
  for (const traceId of recorded)
    await waitUntil(() => listSpans(traceId).length === 2, `both requests of ${traceId} are traced`)
  assert.deepEqual(unrecorded.flatMap(listSpans), [])
  await close?.()
  close = await exportTracesTo(collector.url, { OTEL_TRACES_SAMPLER: 'always_on', OTEL_TRACES_SAMPLER_ARG: '0' })
  await api.get('/stores', { traceparent: `00-${unrecorded[0]}-b7ad6b7169203331-00` })
  await waitUntil(
    () => listSpans(unrecorded[0] ?? '').length === 1,
    'a request that its caller does not record is traced',
  )
})

test('spans wait for a busy collector, and rejected ones count lost', async () => {
  await close?.()
  close = await exportTracesTo(collector.url)
  collector.statuses.push(503, 429)
  const bodyCount = collector.bodies.length
  const requestId = 'comes-late'
  await api.get('/stores', { 'x-request-id': requestId })
  const findSpans = () => collector.spans.filter(span => span.attributes['tillbridge.request_id'] === requestId)
  await waitUntil(() => findSpans().length, 'the delayed span is exported')
  assert.ok(collector.bodies.length >= bodyCount + 3)
  assert.equal(findSpans().length, 1)
  assert.equal(getExportCounts().spans.lost, 0)
  collector.statuses.push(400)
  await api.get('/stores')
  await waitUntil(() => (getExportCounts().spans.lost ?? 0) > 0, 'rejected spans are counted')
  await api.get('/stores')
  const messages = /trace export failed.*trace export resumed/s
  await waitUntil(() => messages.test(captured.text), 'the failure and the recovery are logged')
})

test('a server with a collector exports until shutdown, others load nothing', async () => {
  const dataDir = join(createDirectory(), 'data')
  const environment = { DATA_DIR: dataDir, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'till-7' }
  const access = await installWithAccess(environment)
  const server = await serve(['--no-demo'], environment)
  const sendRequest = async () => {
    const { status, headers } = await sendGet(server, '/stores', access)
    assert.equal(status, 200)
    return () => collector.spans.find(span => span.attributes['tillbridge.request_id'] === headers['x-request-id'])
  }
  const first = await sendRequest()
  await waitUntil(first, 'the spans of the request are exported', 30_000)
  const last = await sendRequest()
  const { code } = await stopServer(server)
  assert.equal(code, 0, server.err)
  const lastSpan = last()
  assert.equal(lastSpan?.resource['service.name'], 'till-7')
  assert.equal(lastSpan?.resource['process.pid'], server.pid)
  const bodyCount = collector.bodies.length
  await runSuccessfully(['service', 'list'], environment)
  assert.equal(collector.bodies.length, bodyCount)
  const { err } = await runCommand(['start'], { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' })
  assert.match(err, /OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that begins with http:\/\/ or https:\/\//)
})
