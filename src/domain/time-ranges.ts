/** The time ranges of the console's charts, each with the number and length of its intervals. */
export const ranges = {
  '1h': { count: 60, intervalSeconds: 60 },
  '24h': { count: 48, intervalSeconds: 1_800 },
  '7d': { count: 56, intervalSeconds: 10_800 },
  '30d': { count: 60, intervalSeconds: 43_200 },
} as const

export type RangeName = keyof typeof ranges
export const rangeNames = Object.keys(ranges) as RangeName[]

/**
 * The same ranges for sales and orders, which are rarer than requests. The intervals begin in the time zone of the service. Each range is
 * compared with the same time `daysBefore`: the same weekdays, or the range before.
 */
export const salesRanges = {
  '1h': { count: 12, intervalSeconds: 300, daysBefore: 7 },
  '24h': { count: 24, intervalSeconds: 3_600, daysBefore: 7 },
  '7d': { count: 28, intervalSeconds: 21_600, daysBefore: 7 },
  '30d': { count: 30, intervalSeconds: 86_400, daysBefore: 30 },
} as const satisfies Record<RangeName, { count: number; intervalSeconds: number; daysBefore: number }>
