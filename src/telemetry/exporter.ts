import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { createExportQueue, exportTimeoutMs, type OnDeliveryChange } from './export-queue.ts'
import { schemaUrl, toHrTime } from './otlp.ts'
import type { Attributes, Span } from './spans.ts'

interface ExporterOptions {
  /** The collector's URL, with its path. */
  url: string
  headers: Readonly<Record<string, string>>
  resource: Attributes
  version: string
  onChange: OnDeliveryChange
}

export type Exporter = ReturnType<typeof createExporter>

const originIntervalMs = 1_000

const spanKinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const

const noParts = { links: [], events: [], droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 }

/** Removes undefined values, which the encoder would send as empty ones. */
function withoutUndefined(attributes: Record<string, Attributes[string]>) {
  for (const key in attributes) if (attributes[key] === undefined) delete attributes[key]
  return attributes
}

/** Sends spans to an OTLP collector in the background. No request waits for it. */
export function createExporter({ url, headers, resource, version, onChange }: ExporterOptions) {
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: exportTimeoutMs })
  const shared = {
    ...noParts,
    resource: resourceFromAttributes(resource, { schemaUrl }),
    instrumentationScope: { name: 'tillbridge', version },
    ended: true,
  }
  const { add, counts, close } = createExportQueue(exporter, onChange)
  // The clock can be set while the process runs.
  const getOrigin = () => Date.now() - performance.now()
  let origin = getOrigin()

  const toReadableSpan = (span: Span): ReadableSpan => {
    const { traceId, errorType, endedAt = span.startedAt } = span
    const toContext = (spanId: string) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED })
    return {
      ...shared,
      name: span.name,
      kind: spanKinds[span.kind],
      spanContext: () => toContext(span.spanId),
      ...(span.parentId !== undefined && { parentSpanContext: toContext(span.parentId) }),
      startTime: toHrTime(origin + span.startedAt),
      endTime: toHrTime(origin + endedAt),
      duration: toHrTime(endedAt - span.startedAt),
      status: { code: errorType === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
      attributes: withoutUndefined({ ...span.attributes, ...span.lateAttributes, 'error.type': errorType }),
    }
  }

  const timer = setInterval(() => {
    origin = getOrigin()
  }, originIntervalMs).unref()

  return {
    record: (span: Span) => add(() => toReadableSpan(span)),
    counts,
    close(withinMs: number) {
      clearInterval(timer)
      return close(withinMs)
    },
  }
}
