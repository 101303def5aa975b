/** Waits after the first failure, the second, … (contract 11); the last one is repeated. Seconds. */
const waitsSeconds = [5, 30, 120, 600, 1_800, 3_600]
/** The longest delay, whatever `Retry-After` says. */
const longestSeconds = 86_400

/** How long it is until the next attempt, after so many in a row that failed. Seconds. */
export function getRetryDelaySeconds(failures: number, retryAfterSeconds = 0): number {
  const wait = waitsSeconds[failures - 1] ?? waitsSeconds.at(-1) ?? 0
  return Math.min(Math.max(wait, retryAfterSeconds), longestSeconds)
}

/**
 * After failures, an endpoint gets one delivery per this many milliseconds until it has caught up: at most 1,000 changes
 * a second.
 */
export const catchUpIntervalMs = 100
