import { AsyncLocalStorage } from 'node:async_hooks'
import { type Attributes, beginPart, endSpan, faultOf, type Kind, type Span } from './spans.ts'
import type { Timeline } from './timeline.ts'
import { type Place, traceparentOf } from './trace-context.ts'

/** What something is done for. */
export interface Around {
  /** Of the request. */
  timeline: Timeline | undefined
  /** Where in a trace it is. */
  place: Place | undefined
}

// One for both: each costs every request, whether anybody looks or not.
const current = new AsyncLocalStorage<Around>()

const nothing: Around = { timeline: undefined, place: undefined }

/** What this is done for. */
export const around = (): Around => current.getStore() ?? nothing

/** Does something, and all that follows from it, for a request or as part of a trace. */
export const doneFor = <T>(around: Around, work: () => T): T => current.run(around, work)

/** Does a part of what is under way here as a span of its own. */
export async function traced<T>(
  name: string,
  kind: Kind,
  attributes: Attributes,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const { timeline, place } = around()
  const span = beginPart(place, name, kind, attributes)
  if (!span) return work(undefined)
  try {
    const done = await doneFor({ timeline, place: span }, () => work(span))
    endSpan(span)
    return done
  } catch (error) {
    endSpan(span, faultOf(error))
    throw error
  }
}

/** The `traceparent` of what is under way here, for whoever goes on with it. */
export function traceparentHere(): string | undefined {
  const { place } = around()
  return place && traceparentOf(place)
}
