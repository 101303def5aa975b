/** Upper bounds in milliseconds of the classes of a latency histogram. The last class has no upper bound. */
const latencyBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000] as const

export const latencyClasses = latencyBounds.length + 1

/** Returns the index of the class of a duration. */
export function classifyLatency(milliseconds: number): number {
  const index = latencyBounds.findIndex(bound => milliseconds <= bound)
  return index === -1 ? latencyBounds.length : index
}

/** Returns a percentile of a histogram, interpolated within its class. Returns null if the histogram is empty. */
export function estimatePercentile(histogram: readonly number[], share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let remaining = share * total
  for (const [i, count] of histogram.entries()) {
    if (remaining <= count && count > 0) {
      const from = latencyBounds[i - 1] ?? 0
      const to = latencyBounds[i] ?? from
      return Math.round(10 * (from + ((to - from) * remaining) / count)) / 10
    }
    remaining -= count
  }
  return latencyBounds.at(-1) ?? null
}
