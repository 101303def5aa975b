/** The time ranges of the console's charts, each with the number and length of its intervals. */
export const ranges = {
  '1h': { count: 60, intervalSeconds: 60 },
  '24h': { count: 48, intervalSeconds: 1_800 },
  '7d': { count: 56, intervalSeconds: 10_800 },
  '30d': { count: 60, intervalSeconds: 43_200 },
} as const

export type RangeName = keyof typeof ranges
export const rangeNames = Object.keys(ranges) as RangeName[]
