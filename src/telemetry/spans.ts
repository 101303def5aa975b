import { isSampled, type Sampler } from './sampling.ts'
import { newSpanId, newTraceId, type SpanContext } from './trace-context.ts'

export type Value = string | number | boolean | undefined
export type Attributes = Readonly<Record<string, Value>>

/** As OpenTelemetry has them: what is asked of us, what we ask of others, what follows from something later. */
export type SpanKind = 'internal' | 'server' | 'client' | 'consumer'

/** A piece of work, from when to when, and what it was part of. It is recorded when it ends. */
export interface Span extends SpanContext {
  parentId: string | undefined
  name: string
  kind: SpanKind
  /** Milliseconds of `performance.now()`. */
  startedAt: number
  endedAt: number | undefined
  /** What is known from the beginning; of those that are alike the same object, which is written out once. */
  attributes: Attributes
  /** What is learned later. */
  lateAttributes: Attributes | undefined
  /** What it came to, where that is a failure: a class or code, never words that may repeat what was sent. */
  fault: string | undefined
  /** How many parts it has. */
  childCount: number
}

interface Tracing {
  sampler: Sampler
  record: (span: Span) => void
}

/** A trace of more parts than that is read by nobody, and a pull asks for a hundred thousand rows: the rest is counted. */
const maxChildren = 1_000

let tracing: Tracing | undefined

/** Has spans recorded from now on. Returns the end of it. */
export function recordSpans(to: Tracing): () => void {
  tracing = to
  return () => {
    if (tracing === to) tracing = undefined
  }
}

const isSpan = (place: SpanContext): place is Span => 'parts' in place

/**
 * Begins a trace, or goes on with the one that `parent` names: a span where it is recorded, else a place all the same, so that what is asked
 * of others names the trace. Where nothing is traced it is the parent's place.
 */
export function startRootSpan(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  parent?: SpanContext,
): SpanContext | undefined {
  if (!tracing) return parent
  const traceId = parent?.traceId ?? newTraceId()
  const now = performance.now()
  if (!isSampled(tracing.sampler, traceId, parent, now)) return { traceId, spanId: newSpanId(), isSampled: false }
  return createSpan(name, kind, attributes, traceId, parent?.spanId, now)
}

/** Begins a part of what is recorded at a place. Undefined where that is nothing, is over, or has too many. */
export function startChildSpan(
  place: SpanContext | undefined,
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  beganAt = performance.now(),
): Span | undefined {
  if (!tracing || !place?.isSampled || !isSpan(place) || place.endedAt !== undefined) return
  if (++place.childCount > maxChildren) return
  return createSpan(name, kind, attributes, place.traceId, place.spanId, beganAt)
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
  spanId: newSpanId(),
  isSampled: true,
  parentId,
  name,
  kind,
  startedAt: beganAt,
  endedAt: undefined,
  attributes,
  lateAttributes: undefined,
  fault: undefined,
  childCount: 0,
})

/** Ends what is recorded at a place; the first time counts. */
export function endSpan(place: SpanContext | undefined, fault?: string, endedAt = performance.now()) {
  const span = findSpan(place)
  if (!span || span.endedAt !== undefined) return
  span.endedAt = endedAt
  span.fault = fault
  if (span.childCount > maxChildren) setAttributes(span, { 'tillbridge.parts_left_out': span.childCount - maxChildren })
  tracing?.record(span)
}

/** The span that is recorded at a place. */
export const findSpan = (place: SpanContext | undefined): Span | undefined =>
  place && isSpan(place) ? place : undefined

/** Adds to what a span says. */
export function setAttributes(span: Span | undefined, attributes: Attributes) {
  if (span) span.lateAttributes = span.lateAttributes ? { ...span.lateAttributes, ...attributes } : attributes
}

/** A failure by its code, or else its class. */
export function getErrorCode(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : error instanceof Error ? error.constructor.name : 'unknown'
}
