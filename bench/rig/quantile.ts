/** Returns a function that returns the value below which a share (0 to 1) of the values lies. */
export function createQuantile(values: readonly number[]) {
  const sorted = Float64Array.from(values).sort()
  return (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}
