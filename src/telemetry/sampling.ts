import type { Place } from './trace-context.ts'

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
  asksCaller: boolean
  /** The share of all others, from 0 to 1. */
  share: number
}

export const samplerOf = (name: (typeof samplerNames)[number], ratio: number): Sampler => ({
  asksCaller: name.startsWith('parentbased_'),
  share: name.endsWith('always_on') ? 1 : name.endsWith('always_off') ? 0 : ratio,
})

/** The last 56 bits of a trace's identifier are random by the standard (W3C Trace Context, level 2). The first 52 of them, as a number below 1. */
const randomness = (traceId: string) => Number.parseInt(traceId.slice(18, 31), 16) / 2 ** 52

/** Whoever else goes by the identifier, with the same share, decides alike. */
export function isSampled({ asksCaller, share }: Sampler, traceId: string, caller: Place | undefined): boolean {
  if (asksCaller && caller) return caller.isSampled
  return share >= 1 || (share > 0 && randomness(traceId) >= 1 - share)
}
