/** Delays after the first failure, the second, and so on. The last one is repeated. */
const retryDelaysSeconds = [5, 30, 120, 600, 1_800, 3_600]
/** Upper bound of `Retry-After`. */
const maxDelaySeconds = 86_400

/** Returns the seconds until the next attempt, after `failures` consecutive failures. */
export function getRetryDelaySeconds(failures: number, retryAfterSeconds = 0): number {
  const wait = retryDelaysSeconds[failures - 1] ?? retryDelaysSeconds.at(-1) ?? 0
  return Math.min(Math.max(wait, retryAfterSeconds), maxDelaySeconds)
}

/**
 * After failures, an endpoint gets one delivery per this many milliseconds until it has caught up: at most 1,000 changes
 * a second.
 */
export const catchUpIntervalMs = 100
