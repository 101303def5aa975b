/** The quantiles of values: below which of them a share lies. */
export function quantilesOf(values: readonly number[]) {
  const sorted = Float64Array.from(values).sort()
  return (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}
