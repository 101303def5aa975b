import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { finishesWithin } from '../concurrency/backoff.ts'
import { singleFlight } from '../concurrency/single-flight.ts'
import type { Attributes, Span } from './spans.ts'

interface ExporterOptions {
  /** The collector's URL, with its path. */
  url: string
  headers: Readonly<Record<string, string>>
  resource: Attributes
  version: string
  /** Called when the collector begins to reject spans or is unreachable, and when it accepts them again. */
  onChange: (isDelivered: boolean, reason: string) => void
}

/** Maximum spans that wait for the collector. Further spans are lost, so an unavailable collector costs a few megabytes at most. */
const maxQueuedSpans = 8_192
const maxSpansPerRequest = 2_048
const intervalMs = 1_000
const timeoutMs = 10_000

export type Exporter = ReturnType<typeof createExporter>

const spanKinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const

const noParts = { links: [], events: [], droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 }

/** Converts milliseconds since 1970 to seconds and nanoseconds. The clock has microseconds. */
function toHrTime(milliseconds: number): HrTime {
  const microseconds = Math.round(milliseconds * 1_000)
  return [Math.floor(microseconds / 1e6), (microseconds % 1e6) * 1_000]
}

/** Removes undefined values, which the encoder would send as empty ones. */
function withoutUndefined(attributes: Record<string, Attributes[string]>) {
  for (const key in attributes) if (attributes[key] === undefined) delete attributes[key]
  return attributes
}

/** Sends spans to an OTLP collector in the background. No request waits for it. */
export function createExporter({ url, headers, resource, version, onChange }: ExporterOptions) {
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: timeoutMs })
  const shared = {
    ...noParts,
    resource: resourceFromAttributes(resource, { schemaUrl: 'https://opentelemetry.io/schemas/1.37.0' }),
    instrumentationScope: { name: 'tillbridge', version },
    ended: true,
  }
  const queue: ReadableSpan[] = []
  const counts = { sent: 0, lost: 0 }
  let isDelivered = true

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

  /** Sends one request. True if its spans were sent or rejected. False if they wait for the next attempt. */
  async function send(spans: ReadableSpan[]): Promise<boolean> {
    const { code, error } = await new Promise<ExportResult>(resolve => exporter.export(spans, resolve))
    const wasSent = code === ExportResultCode.SUCCESS
    const status = (error as { code?: unknown } | undefined)?.code
    if (wasSent !== isDelivered) onChange(wasSent, error?.message ?? '')
    isDelivered = wasSent
    const wasRejected = typeof status === 'number' && status < 500 && status !== 429
    if (wasSent || wasRejected) counts[wasSent ? 'sent' : 'lost'] += spans.length
    return wasSent || wasRejected
  }

  const share = singleFlight()
  /** Sends the spans that are queued now, in requests of at most `maxSpansPerRequest`, until the collector is unavailable. */
  const flush = () =>
    share('flush', async () => {
      for (let remaining = queue.length; remaining > 0; ) {
        const spans = queue.slice(0, Math.min(remaining, maxSpansPerRequest))
        if (!(await send(spans))) return
        queue.splice(0, spans.length)
        remaining -= spans.length
      }
    })
  const timer = setInterval(() => {
    origin = getOrigin()
    void flush()
  }, intervalMs).unref()

  return {
    record(span: Span) {
      if (queue.length >= maxQueuedSpans) counts.lost++
      else if (queue.push(toReadableSpan(span)) >= maxSpansPerRequest && isDelivered) void flush()
    },
    /** Returns how many spans were sent and how many were lost. */
    counts: () => ({ ...counts }),
    /** Sends the remaining spans, for at most `withinMs`. */
    async close(withinMs: number) {
      clearInterval(timer)
      const sendRemaining = async () => {
        // The first flush may join a run that began before the last spans were queued.
        for (let left = 2; left > 0 && queue.length > 0; left--) await flush()
      }
      await finishesWithin(sendRemaining(), withinMs)
    },
  }
}
