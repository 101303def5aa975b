import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { readMessage } from './protobuf.ts'

const closed = { additionalProperties: false }
const hex = (digits: number) => Type.String({ pattern: `^(?!0+$)[0-9a-f]{${digits}}$` })
const nanoseconds = Type.String({ pattern: '^[1-9][0-9]{18}$' })
const AnyValue = Type.Union([
  Type.Object({ stringValue: Type.String() }, closed),
  Type.Object({ boolValue: Type.Boolean() }, closed),
  Type.Object({ intValue: Type.String({ pattern: '^-?[0-9]+$' }) }, closed),
  Type.Object({ doubleValue: Type.Number() }, closed),
])
/** Zero, or absent. */
const NoneDropped = Type.Optional(Type.Literal(0))
const Attributes = Type.Array(Type.Object({ key: Type.String({ minLength: 1 }), value: AnyValue }, closed))
const Span = Type.Object(
  {
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: Type.Optional(hex(16)),
    flags: Type.Integer({ minimum: 0, maximum: 0xffff_ffff }),
    name: Type.String({ minLength: 1 }),
    kind: Type.Integer({ minimum: 1, maximum: 5 }),
    startTimeUnixNano: nanoseconds,
    endTimeUnixNano: nanoseconds,
    attributes: Attributes,
    droppedAttributesCount: NoneDropped,
    droppedEventsCount: NoneDropped,
    droppedLinksCount: NoneDropped,
    status: Type.Optional(Type.Object({ code: Type.Integer({ minimum: 0, maximum: 2 }) }, closed)),
  },
  closed,
)
/** `ExportTraceServiceRequest` of opentelemetry-proto 1.x in JSON. It has only the fields that we send, and allows no other. */
const ExportTraceServiceRequest = Type.Object(
  {
    resourceSpans: Type.Array(
      Type.Object(
        {
          resource: Type.Object({ attributes: Attributes, droppedAttributesCount: NoneDropped }, closed),
          schemaUrl: Type.String(),
          scopeSpans: Type.Array(
            Type.Object(
              {
                scope: Type.Object({ name: Type.String(), version: Type.String() }, closed),
                spans: Type.Array(Span, { minItems: 1 }),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
  },
  closed,
)
const traceRequestValidator = Compile(ExportTraceServiceRequest)

/** A span as a test reads it. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  isFailed: boolean
  milliseconds: number
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  attributes: Record<string, any>
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  resource: Record<string, any>
}

/** A metric as a test reads it: its newest data points. */
export interface ReceivedMetric {
  name: string
  unit: string
  isMonotonic: boolean
  temporality: number | undefined
  points: {
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    attributes: Record<string, any>
    asDouble?: number
    count?: string
    sum?: number
    bucketCounts?: number[]
    explicitBounds?: number[]
  }[]
}

/** A log record as a test reads it. */
export interface ReceivedLog {
  body: string
  severityText: string
  traceId?: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  attributes: Record<string, any>
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  resource: Record<string, any>
}

/** Starts a collector that receives OTLP over HTTP in Protocol Buffers and records everything that is invalid. */
export async function startCollector(port = 0) {
  const spans: ReceivedSpan[] = []
  const metrics = new Map<string, ReceivedMetric>()
  const logs: ReceivedLog[] = []
  const errors: string[] = []
  const bodies: string[] = []
  const requestHeaders: Record<string, string | string[] | undefined>[] = []
  const statuses: number[] = []
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    bodies.push(body.toString())
    requestHeaders.push(request.headers)
    const status = statuses.shift() ?? 200
    if (status === 200) {
      const isOtlpRequest = request.method === 'POST' && /^\/v1\/(traces|metrics|logs)$/.test(request.url ?? '')
      if (!isOtlpRequest || request.headers['content-type'] !== 'application/x-protobuf')
        errors.push(`${request.method} ${request.url} ${request.headers['content-type']}`)
      try {
        if (request.url === '/v1/metrics')
          for (const metric of toMetrics(readMessage('ExportMetricsServiceRequest', body)))
            metrics.set(metric.name, metric)
        if (request.url === '/v1/logs') logs.push(...toLogs(readMessage('ExportLogsServiceRequest', body)))
        if (request.url !== '/v1/traces') return void response.writeHead(200).end()
        const message = readMessage('ExportTraceServiceRequest', body)
        if (traceRequestValidator.Check(message)) spans.push(...toSpans(message))
        else errors.push(JSON.stringify([...traceRequestValidator.Errors(message)].slice(0, 5)))
      } catch (error) {
        errors.push(String(error))
      }
    }
    response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    /** The last push of each metric, by name. */
    metrics,
    logs,
    /** Errors of requests that are not valid OTLP. */
    errors,
    bodies,
    requestHeaders,
    /** Status codes of the next responses. Later requests are accepted. */
    statuses,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function toSpans({ resourceSpans }: Static<typeof ExportTraceServiceRequest>): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ attributes, startTimeUnixNano, endTimeUnixNano, status, flags, ...span }) => {
        const nanos = BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)
        assert.ok(nanos >= 0n, 'a span must not end before it begins')
        assert.equal(flags & 1, 1)
        return {
          ...span,
          isFailed: status?.code === 2,
          milliseconds: Number(nanos) / 1e6,
          attributes: toValues(attributes),
          resource: toValues(resource.attributes),
        }
      }),
    ),
  )
}

// biome-ignore lint/suspicious/noExplicitAny: `readMessage` has checked the fields
const toMetrics = ({ resourceMetrics }: any): ReceivedMetric[] =>
  // biome-ignore lint/suspicious/noExplicitAny: the same
  resourceMetrics.flatMap(({ scopeMetrics }: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: the same
    scopeMetrics.flatMap(({ metrics }: any) =>
      // biome-ignore lint/suspicious/noExplicitAny: the same
      metrics.map(({ name, unit = '', sum, gauge, histogram }: any) => {
        const data = sum ?? gauge ?? histogram
        return {
          name,
          unit,
          isMonotonic: sum?.isMonotonic ?? false,
          temporality: data.aggregationTemporality,
          // biome-ignore lint/suspicious/noExplicitAny: the same
          points: data.dataPoints.map((point: any) => ({ ...point, attributes: toValues(point.attributes) })),
        }
      }),
    ),
  )

// biome-ignore lint/suspicious/noExplicitAny: `readMessage` has checked the fields
const toLogs = ({ resourceLogs }: any): ReceivedLog[] =>
  // biome-ignore lint/suspicious/noExplicitAny: the same
  resourceLogs.flatMap(({ resource, scopeLogs }: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: the same
    scopeLogs.flatMap(({ logRecords }: any) =>
      // biome-ignore lint/suspicious/noExplicitAny: the same
      logRecords.map(({ body, attributes, ...record }: any) => ({
        ...record,
        body: body.stringValue,
        attributes: toValues(attributes),
        resource: toValues(resource.attributes),
      })),
    ),
  )

const toValues = (attributes: Static<typeof Attributes>) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, 'intValue' in value ? Number(value.intValue) : Object.values(value)[0]]),
  )
