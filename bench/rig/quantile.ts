/** Answers with a function: the value below which a share (0 to 1) of these values lies. */
export function quantilesOf(values: readonly number[]) {
  const sorted = Float64Array.from(values).sort()
  return (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}
