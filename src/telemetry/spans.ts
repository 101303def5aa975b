import { isSampled, type Sampler } from './sampling.ts'
import { createSpanId, createTraceId, type SpanContext } from './trace-context.ts'

type Value = string | number | boolean | undefined
export type Attributes = Readonly<Record<string, Value>>

/** The span kinds of OpenTelemetry: `server` for incoming requests, `client` for outgoing calls, `consumer` for jobs. */
export type SpanKind = 'internal' | 'server' | 'client' | 'consumer'

/** A span: a timed operation and its parent. It is recorded when it ends. */
export interface Span extends SpanContext {
  parentId: string | undefined
  name: string
  kind: SpanKind
  /** In milliseconds (`performance.now()`). */
  startedAt: number
  endedAt: number | undefined
  /** The attributes at the start. Similar spans share one object, so that it is encoded once. */
  attributes: Attributes
  /** Attributes that were set after the start. */
  lateAttributes: Attributes | undefined
  /** The class or code of the error if the operation failed. Never a message, which can contain data. */
  errorType: string | undefined
  /** The number of child spans. */
  childCount: number
}

interface Tracing {
  sampler: Sampler
  record: (span: Span) => void
}

/** Maximum child spans of a span, because a sync can make 100,000 calls. Further child spans are only counted. */
const maxChildren = 1_000

let tracing: Tracing | undefined

/** Starts recording spans. Returns a function that stops recording. */
export function recordSpans(to: Tracing): () => void {
  tracing = to
  return () => {
    if (tracing === to) tracing = undefined
  }
}

const isSpan = (position: SpanContext): position is Span => 'childCount' in position

/**
 * Starts a trace, or continues the trace of `parent`. Returns a span if the trace is recorded, otherwise a position, so that outgoing calls
 * still carry the trace ID. Returns `parent` if tracing is off.
 */
export function startRootSpan(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  parent?: SpanContext,
): SpanContext | undefined {
  if (!tracing) return parent
  const traceId = parent?.traceId ?? createTraceId()
  const now = performance.now()
  if (!isSampled(tracing.sampler, traceId, parent, now)) return { traceId, spanId: createSpanId(), isSampled: false }
  return createSpan(name, kind, attributes, traceId, parent?.spanId, now)
}

/** Starts a child span. Returns undefined if the parent is not recorded, has ended or has too many child spans. */
export function startChildSpan(
  position: SpanContext | undefined,
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  beganAt = performance.now(),
): Span | undefined {
  if (!tracing || !position?.isSampled || !isSpan(position) || position.endedAt !== undefined) return
  if (++position.childCount > maxChildren) return
  return createSpan(name, kind, attributes, position.traceId, position.spanId, beganAt)
}

const createSpan = (
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  traceId: string,
  parentId: string | undefined,
  beganAt: number,
): Span => ({
  traceId,
  spanId: createSpanId(),
  isSampled: true,
  parentId,
  name,
  kind,
  startedAt: beganAt,
  endedAt: undefined,
  attributes,
  lateAttributes: undefined,
  errorType: undefined,
  childCount: 0,
})

/** Ends the span at a position and records it. Further calls have no effect. */
export function endSpan(position: SpanContext | undefined, errorType?: string, endedAt = performance.now()) {
  const span = findSpan(position)
  if (!span || span.endedAt !== undefined) return
  span.endedAt = endedAt
  span.errorType = errorType
  if (span.childCount > maxChildren) setAttributes(span, { 'tillbridge.parts_left_out': span.childCount - maxChildren })
  tracing?.record(span)
}

/** Returns the span at a position. Returns undefined if it is not recorded. */
export const findSpan = (position: SpanContext | undefined): Span | undefined =>
  position && isSpan(position) ? position : undefined

/** Adds attributes to a span. */
export function setAttributes(span: Span | undefined, attributes: Attributes) {
  if (span) span.lateAttributes = span.lateAttributes ? { ...span.lateAttributes, ...attributes } : attributes
}

/** Returns the code of an error, or its class name if it has no code. */
export function getErrorCode(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : error instanceof Error ? error.constructor.name : 'unknown'
}
