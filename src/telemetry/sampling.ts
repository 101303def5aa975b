import type { SpanContext } from './trace-context.ts'

/** As OpenTelemetry names them (its SDK's `OTEL_TRACES_SAMPLER`). */
export const samplerNames = [
  'parentbased_traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'traceidratio',
  'always_on',
  'always_off',
] as const

/** Says of a trace, at its root, whether it is recorded. */
export interface Sampler {
  /** Whether a caller decides by its flag. */
  followsCaller: boolean
  /** The share of all others, from 0 to 1; asked for each of them, at its moment (`performance.now()`). */
  getRatio(moment: number): number
}

/** Traces that a process begins in a second where no share is set: whoever tries something out has all of them, and the busiest day pays for no more. */
export const maxTracesPerSecond = 500

/** The `ratio` of `traceidratio`; without one some hundred a second are recorded, however many there are. */
export const createSampler = (name: (typeof samplerNames)[number], ratio: number | undefined): Sampler => ({
  followsCaller: name.startsWith('parentbased_'),
  getRatio: name.endsWith('always_on') ? () => 1 : name.endsWith('always_off') ? () => 0 : createRatio(ratio),
})

function createRatio(ratio: number | undefined): Sampler['getRatio'] {
  if (ratio !== undefined) return () => ratio
  let [second, started, startedBefore] = [0, 0, 0]
  return moment => {
    const now = Math.floor(moment / 1_000)
    if (now !== second) [second, started, startedBefore] = [now, 0, now === second + 1 ? started : 0]
    return Math.min(1, maxTracesPerSecond / Math.max(++started, startedBefore))
  }
}

/** The last 56 bits of a trace's identifier are random by the standard (W3C Trace Context, level 2). The first 52 of them, as a number below 1. */
const getRandomness = (traceId: string) => Number.parseInt(traceId.slice(18, 31), 16) / 2 ** 52

/** Whoever else goes by the identifier, with the same share, decides alike. */
export function isSampled(sampler: Sampler, traceId: string, caller: SpanContext | undefined, moment: number): boolean {
  if (sampler.followsCaller && caller) return caller.isSampled
  const share = sampler.getRatio(moment)
  return share >= 1 || (share > 0 && getRandomness(traceId) >= 1 - share)
}
