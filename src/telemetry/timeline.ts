import { AsyncLocalStorage } from 'node:async_hooks'

/** Something that a request took time for. Neither `what` nor `outcome` says anything personal, or secret. */
export interface Step {
  what: string
  /** Milliseconds since the request came. */
  at: number
  milliseconds: number
  outcome?: string
}

/** What a request under way has taken time for so far. */
export interface Timeline {
  /** Of `performance.now()`. */
  begunAt: number
  statements: number
  /** Milliseconds that were waited for the database; of statements that were under way together, each for itself. */
  databaseMs: number
  steps: Step[]
}

const current = new AsyncLocalStorage<Timeline>()

/** Steps of one request that are kept: a stream of hours has more to tell than anybody reads. */
const mostSteps = 50

export const newTimeline = (): Timeline => ({ begunAt: performance.now(), statements: 0, databaseMs: 0, steps: [] })

/** Does something, and all that follows from it, for the request of a time line. */
export const following = <T>(timeline: Timeline, work: () => T): T => current.run(timeline, work)

/** That of the request for which this is done; undefined where it is for none. */
export const timelineNow = (): Timeline | undefined => current.getStore()

/** Adds a step that began at `since` (`performance.now()`) and ends now. */
export function addStep(timeline: Timeline | undefined, what: string, since: number, outcome?: string) {
  if (!timeline || timeline.steps.length >= mostSteps) return
  const milliseconds = rounded(performance.now() - since)
  timeline.steps.push({ what, at: rounded(since - timeline.begunAt), milliseconds, ...(outcome && { outcome }) })
}

/** Adds what a statement took that was asked at `since`. */
export function addStatement(timeline: Timeline | undefined, since: number) {
  if (!timeline) return
  timeline.statements++
  timeline.databaseMs += performance.now() - since
}

export const rounded = (milliseconds: number) => Math.round(milliseconds * 10) / 10
