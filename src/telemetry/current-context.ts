import { AsyncLocalStorage } from 'node:async_hooks'
import { type Attributes, endSpan, getErrorCode, type Span, type SpanKind, startChildSpan } from './spans.ts'
import type { Timeline } from './timeline.ts'
import { formatTraceparent, type SpanContext } from './trace-context.ts'

/** The request and the trace that an operation belongs to. */
export interface Context {
  /** The `X-Request-Id` of the request. Undefined in a job. */
  requestId?: string | undefined
  /** The timeline of the request. */
  timeline: Timeline | undefined
  /** The current position in the trace. */
  spanContext: SpanContext | undefined
}

// One storage for both, because each storage has a cost for every request, traced or not.
const current = new AsyncLocalStorage<Context>()

const emptyContext: Context = { timeline: undefined, spanContext: undefined }

/** Returns the context of the running operation. */
export const getCurrentContext = (): Context => current.getStore() ?? emptyContext

/** Runs `work`, and everything it starts, in a context. */
export const runWithContext = <T>(context: Context, work: () => T): T => current.run(context, work)

/** Runs `work` as a child span of the current context. */
export async function runInSpan<T>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const context = getCurrentContext()
  const span = startChildSpan(context.spanContext, name, kind, attributes)
  if (!span) return work(undefined)
  try {
    const result = await runWithContext({ ...context, spanContext: span }, () => work(span))
    endSpan(span)
    return result
  } catch (error) {
    endSpan(span, getErrorCode(error))
    throw error
  }
}

/** Returns the `traceparent` of the current context, for another system or a later job. */
export function getTraceparent(): string | undefined {
  const { spanContext } = getCurrentContext()
  return spanContext && formatTraceparent(spanContext)
}
