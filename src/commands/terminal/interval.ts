const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const [minSeconds, maxSeconds] = [60, 7 * 86_400]

/** Parses `90s`, `5m`, `1h` or `7d` into seconds. Returns undefined if it isn't from 1 minute to 7 days. */
export function parseInterval(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const seconds = Number(count) * (units[unit] ?? Number.NaN)
  return seconds >= minSeconds && seconds <= maxSeconds ? seconds : undefined
}

/** Formats seconds as an interval: 300 is `5m`. */
export function formatInterval(seconds: number): string {
  const [unit, size] = Object.entries(units).findLast(([, unitSeconds]) => seconds % unitSeconds === 0) ?? ['s', 1]
  return `${seconds / size}${unit}`
}
