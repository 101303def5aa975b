import { setTimeout as delay } from 'node:timers/promises'

/** The share of one core's time that a backup uses by default. PostgreSQL uses less than that in addition. */
export const defaultCpuShare = 0.15

/** Milliseconds. Shorter delays are added up. */
const minDelayMs = 2
/** Milliseconds of CPU time before the throttle starts, so a small backup isn't slowed down. */
const burstMs = 200

/**
 * Yields chunks slowly, so that this process uses at most a share of one core's time. Chunks are small, so other work waits only for
 * milliseconds. A share of 1 or more means no limit. Pattern: token bucket.
 */
export async function* throttle<T>(chunks: AsyncIterable<T>, share: number): AsyncGenerator<T> {
  // Unused time is saved, up to one burst.
  const savedMs = burstMs / share
  let startedAt = performance.now() - savedMs
  let usage = process.cpuUsage()
  for await (const chunk of chunks) {
    yield chunk
    if (share >= 1) continue
    const { user, system } = process.cpuUsage(usage)
    const aheadMs = (user + system) / 1_000 / share - (performance.now() - startedAt)
    if (aheadMs > minDelayMs) await delay(aheadMs)
    else if (aheadMs < -savedMs) {
      startedAt = performance.now() - savedMs
      usage = process.cpuUsage()
    }
  }
}
