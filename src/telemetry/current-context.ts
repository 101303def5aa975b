import { AsyncLocalStorage } from 'node:async_hooks'
import { type Attributes, endSpan, getErrorCode, type Span, type SpanKind, startChildSpan } from './spans.ts'
import type { Timeline } from './timeline.ts'
import { formatTraceparent, type SpanContext } from './trace-context.ts'

/** What something is done for. */
export interface Context {
  /** Of the request. */
  timeline: Timeline | undefined
  /** Where in a trace it is. */
  place: SpanContext | undefined
}

// One for both: each costs every request, whether anybody looks or not.
const current = new AsyncLocalStorage<Context>()

const emptyContext: Context = { timeline: undefined, place: undefined }

/** What this is done for. */
export const currentContext = (): Context => current.getStore() ?? emptyContext

/** Does something, and all that follows from it, for a request or as part of a trace. */
export const runWithContext = <T>(around: Context, work: () => T): T => current.run(around, work)

/** Does a part of what is under way here as a span of its own. */
export async function traced<T>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const { timeline, place } = currentContext()
  const span = startChildSpan(place, name, kind, attributes)
  if (!span) return work(undefined)
  try {
    const result = await runWithContext({ timeline, place: span }, () => work(span))
    endSpan(span)
    return result
  } catch (error) {
    endSpan(span, getErrorCode(error))
    throw error
  }
}

/** The `traceparent` of what is under way here, for whoever goes on with it. */
export function currentTraceparent(): string | undefined {
  const { place } = currentContext()
  return place && formatTraceparent(place)
}
