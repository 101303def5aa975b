import type { SpanContext } from './trace-context.ts'

/** The sampler names of OpenTelemetry SDKs (`OTEL_TRACES_SAMPLER`). */
export const samplerNames = [
  'parentbased_traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'traceidratio',
  'always_on',
  'always_off',
] as const

/** Decides at the root of a trace whether the trace is recorded. */
export interface Sampler {
  /** True if the sampled flag of the caller decides. */
  followsCaller: boolean
  /** Returns the ratio of other traces to record, from 0 to 1. Called once per trace, with its start (`performance.now()`). */
  getRatio(atMs: number): number
}

/** Maximum traces per second and process if no ratio is set: enough to record everything in development, and cheap under load. */
export const maxTracesPerSecond = 500

/** Creates a sampler. Without a `ratio`, `traceidratio` records at most `maxTracesPerSecond`. */
export const createSampler = (name: (typeof samplerNames)[number], ratio: number | undefined): Sampler => ({
  followsCaller: name.startsWith('parentbased_'),
  getRatio: name.endsWith('always_on') ? () => 1 : name.endsWith('always_off') ? () => 0 : createRatio(ratio),
})

function createRatio(ratio: number | undefined): Sampler['getRatio'] {
  if (ratio !== undefined) return () => ratio
  let [second, started, startedBefore] = [0, 0, 0]
  return atMs => {
    const now = Math.floor(atMs / 1_000)
    if (now !== second) [second, started, startedBefore] = [now, 0, now === second + 1 ? started : 0]
    return Math.min(1, maxTracesPerSecond / Math.max(++started, startedBefore))
  }
}

/** Returns 52 of the 56 random bits of a trace ID (W3C Trace Context, level 2) as a number below 1. */
const getRandomness = (traceId: string) => Number.parseInt(traceId.slice(18, 31), 16) / 2 ** 52

/** Returns true if the trace is recorded. Other samplers with the same ratio decide the same way, because the trace ID decides. */
export function isSampled(sampler: Sampler, traceId: string, caller: SpanContext | undefined, atMs: number): boolean {
  if (sampler.followsCaller && caller) return caller.isSampled
  const share = sampler.getRatio(atMs)
  return share >= 1 || (share > 0 && getRandomness(traceId) >= 1 - share)
}
