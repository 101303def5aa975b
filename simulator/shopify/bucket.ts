/** The points of an app's rate limit at a shop. */
export interface Bucket {
  /** Takes points. Returns false if there are too few. */
  take(points: number): boolean
  refund(points: number): void
  status(): { maximumAvailable: number; currentlyAvailable: number; restoreRate: number }
  fill(): void
}

export function createBucket(
  now: () => number,
  settings: () => { bucketPoints: number; restorePerSecond: number },
): Bucket {
  let points = settings().bucketPoints
  let at = now()
  function restore() {
    const { bucketPoints, restorePerSecond } = settings()
    const present = now()
    points = Math.min(bucketPoints, points + (Math.max(0, present - at) / 1_000) * restorePerSecond)
    at = present
  }
  return {
    take(cost) {
      restore()
      if (cost > points) return false
      points -= cost
      return true
    },
    refund(cost) {
      points = Math.min(settings().bucketPoints, points + cost)
    },
    status() {
      restore()
      const { bucketPoints, restorePerSecond } = settings()
      return { maximumAvailable: bucketPoints, currentlyAvailable: Math.floor(points), restoreRate: restorePerSecond }
    },
    fill() {
      points = settings().bucketPoints
      at = now()
    },
  }
}
