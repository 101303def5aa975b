/** Formats cents as an amount, such as `59.95`. */
export function formatDollars(cents: number) {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Returns a percentage of an amount, in whole cents. */
export const computePercentage = (cents: number, percent: number) => Math.round((cents * percent) / 100)
