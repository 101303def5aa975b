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
  /** Milliseconds during which at least one statement ran. */
  databaseMs: number
  /** The newest disjoint intervals in which statements ran, by time. */
  busy: { from: number; to: number }[]
  steps: Step[]
}

/** Maximum steps per request, because a stream can run for hours. */
const maxSteps = 50

export const createTimeline = (): Timeline => ({
  startedAt: performance.now(),
  statements: 0,
  databaseMs: 0,
  busy: [],
  steps: [],
})

/** Adds a step that began at `since` (`performance.now()`) and ends now. */
export function addStep(timeline: Timeline | undefined, name: string, since: number, outcome?: string) {
  if (!timeline || timeline.steps.length >= maxSteps) return
  timeline.steps.push({ name, at: since - timeline.startedAt, milliseconds: performance.now() - since, outcome })
}

/** Intervals that a later statement can still overlap. Statements are added in the order of their ends, so older ones rarely matter. */
const maxBusyIntervals = 32

/** Counts a statement that ends now, and its duration in milliseconds. Adds the time that no other statement has covered. */
export function addStatement(timeline: Timeline | undefined, milliseconds: number) {
  if (!timeline) return
  const { busy } = timeline
  const to = performance.now()
  let from = to - milliseconds
  timeline.statements++
  for (let last = busy.at(-1); last && last.to > from; last = busy.at(-1)) {
    from = Math.min(from, last.from)
    timeline.databaseMs -= last.to - last.from
    busy.pop()
  }
  busy.push({ from, to })
  timeline.databaseMs += to - from
  if (busy.length > maxBusyIntervals) busy.shift()
}
