/** Something that a request took time for. Neither `what` nor `outcome` says anything personal, or secret. */
export interface Step {
  what: string
  /** Milliseconds since the request came. */
  at: number
  milliseconds: number
  outcome?: string | undefined
}

/** What a request under way has taken time for so far. */
export interface Timeline {
  /** Of `performance.now()`. */
  startedAt: number
  statements: number
  /** Milliseconds that were waited for the database; of statements that were under way together, each for itself. */
  databaseMs: number
  steps: Step[]
}

/** Steps of one request that are kept: a stream of hours has more to tell than anybody reads. */
const maxSteps = 50

export const createTimeline = (): Timeline => ({
  startedAt: performance.now(),
  statements: 0,
  databaseMs: 0,
  steps: [],
})

/** Adds a step that began at `since` (`performance.now()`) and ends now. */
export function addStep(timeline: Timeline | undefined, what: string, since: number, outcome?: string) {
  if (!timeline || timeline.steps.length >= maxSteps) return
  timeline.steps.push({ what, at: since - timeline.startedAt, milliseconds: performance.now() - since, outcome })
}

/** Adds a statement, and the milliseconds that it took. */
export function addStatement(timeline: Timeline | undefined, milliseconds: number) {
  if (!timeline) return
  timeline.statements++
  timeline.databaseMs += milliseconds
}
