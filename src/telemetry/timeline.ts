/** A timed step of a request. Neither `name` nor `outcome` can contain personal data or secrets. */
export interface Step {
  name: string
  /** Milliseconds since the request started. */
  at: number
  milliseconds: number
  outcome?: string | undefined
}

/** The timed steps of a running request. */
export interface Timeline {
  /** The start of the request (`performance.now()`). */
  startedAt: number
  statements: number
  /** The sum of the statements' durations in milliseconds. Concurrent statements count separately. */
  databaseMs: number
  steps: Step[]
}

/** Maximum steps per request, because a stream can run for hours. */
const maxSteps = 50

export const createTimeline = (): Timeline => ({
  startedAt: performance.now(),
  statements: 0,
  databaseMs: 0,
  steps: [],
})

/** Adds a step that began at `since` (`performance.now()`) and ends now. */
export function addStep(timeline: Timeline | undefined, name: string, since: number, outcome?: string) {
  if (!timeline || timeline.steps.length >= maxSteps) return
  timeline.steps.push({ name, at: since - timeline.startedAt, milliseconds: performance.now() - since, outcome })
}

/** Counts a statement and its duration in milliseconds. */
export function addStatement(timeline: Timeline | undefined, milliseconds: number) {
  if (!timeline) return
  timeline.statements++
  timeline.databaseMs += milliseconds
}
