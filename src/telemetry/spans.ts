import { AsyncLocalStorage } from 'node:async_hooks'
import { newSpanId, newTraceId, type Place, traceparentOf } from './trace-context.ts'

export type Value = string | number | boolean | undefined
export type Attributes = Readonly<Record<string, Value>>

/** As OpenTelemetry has them: what is asked of us, what we ask of others, what follows from something later. */
export type Kind = 'internal' | 'server' | 'client' | 'consumer'

/** A piece of work, from when to when, and what it was part of. */
export interface Span extends Place {
  parentId: string | undefined
  name: string
  kind: Kind
  /** Milliseconds since 1970, with their fractions. */
  beganAt: number
  endedAt: number | undefined
  /** What is known from the beginning; of those that are alike the same object, which is written out once. */
  attributes: Attributes
  /** What is learned later. */
  learned: Record<string, Value> | undefined
  /** What it came to, where that is a failure: a class or code, never words that may repeat what was sent. */
  fault: string | undefined
  /** How many parts it has. */
  parts: number
}

interface Tracing {
  /** The share of traces that begin here which are recorded, from 0 to 1. */
  share: number
  record: (span: Span) => void
}

/** A trace of more parts than that is read by nobody, and a pull asks for a hundred thousand rows: the rest is counted. */
const mostParts = 1_000

let tracing: Tracing | undefined
const here = new AsyncLocalStorage<Place | Span>()

/** Has spans recorded from now on. Returns the end of it. */
export function recordSpans(to: Tracing): () => void {
  tracing = to
  return () => {
    if (tracing === to) tracing = undefined
  }
}

const now = () => performance.timeOrigin + performance.now()

/**
 * Begins a span that starts a trace, or goes on with the one that `parent` names. Undefined where nothing is traced; a span that is not
 * sampled is there all the same, so that what is asked of others names the trace.
 */
export function beginRoot(name: string, kind: Kind, attributes: Attributes, parent?: Place): Span | undefined {
  if (!tracing) return
  const isSampled = parent ? parent.isSampled : Math.random() < tracing.share
  return begin(name, kind, attributes, parent?.traceId ?? newTraceId(), parent?.spanId, isSampled)
}

/** Begins a span within what is under way here. Undefined where that is nothing, is over, or is not recorded. */
export function beginPart(name: string, kind: Kind, attributes: Attributes): Span | undefined {
  if (!tracing) return
  const around = here.getStore()
  if (!around?.isSampled || !('parts' in around) || around.endedAt !== undefined) return
  if (++around.parts > mostParts) return
  return begin(name, kind, attributes, around.traceId, around.spanId, true)
}

const begin = (
  name: string,
  kind: Kind,
  attributes: Attributes,
  traceId: string,
  parentId: string | undefined,
  isSampled: boolean,
): Span => ({
  traceId,
  spanId: newSpanId(),
  isSampled,
  parentId,
  name,
  kind,
  beganAt: now(),
  endedAt: undefined,
  attributes,
  learned: undefined,
  fault: undefined,
  parts: 0,
})

/** Ends a span; the first time counts. */
export function endSpan(span: Span | undefined, fault?: string) {
  if (!span || span.endedAt !== undefined) return
  span.endedAt = now()
  span.fault = fault
  if (span.parts > mostParts) learn(span, { 'tillbridge.parts_left_out': span.parts - mostParts })
  if (span.isSampled) tracing?.record(span)
}

/** Adds to what a span says. */
export function learn(span: Span | undefined, attributes: Attributes) {
  if (span) span.learned = span.learned ? { ...span.learned, ...attributes } : { ...attributes }
}

/** Has everything that `work` does be part of it. */
export const within = <T>(place: Place | Span | undefined, work: () => T): T => (place ? here.run(place, work) : work())

/** Does a part of what is under way here as a span of its own. */
export async function traced<T>(
  name: string,
  kind: Kind,
  attributes: Attributes,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const span = beginPart(name, kind, attributes)
  if (!span) return work(undefined)
  try {
    const done = await within(span, () => work(span))
    endSpan(span)
    return done
  } catch (error) {
    endSpan(span, faultOf(error))
    throw error
  }
}

/** A failure by its code, or else its class. */
export function faultOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : error instanceof Error ? error.constructor.name : 'unknown'
}

/** The `traceparent` of what is under way here, for whoever goes on with it. */
export function traceparentHere(): string | undefined {
  const place = here.getStore()
  return place && traceparentOf(place)
}
