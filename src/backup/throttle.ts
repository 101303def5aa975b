import { setTimeout as delay } from 'node:timers/promises'

/** The share of one core's time that a backup uses by default. PostgreSQL, which reads the rows, uses less than that again. */
export const usualShare = 0.15

/** Milliseconds: shorter waits are put together. */
const leastMs = 2
/** Milliseconds of its own time that it may take at once: a small backup is over before anybody notices. */
const burstMs = 200

/**
 * Passes pieces on slowly, so that this process uses at most a share of one core's time. Pieces are small, so that other
 * work waits for milliseconds only. A share of 1 or more means no limit.
 */
export async function* paced<T>(pieces: AsyncIterable<T>, share: number): AsyncGenerator<T> {
  // As if it had begun that much earlier: time that is not used is kept, up to a burst.
  const keptMs = burstMs / share
  let begun = performance.now() - keptMs
  let usage = process.cpuUsage()
  for await (const piece of pieces) {
    yield piece
    if (share >= 1) continue
    const { user, system } = process.cpuUsage(usage)
    const aheadMs = (user + system) / 1_000 / share - (performance.now() - begun)
    if (aheadMs > leastMs) await delay(aheadMs)
    else if (aheadMs < -keptMs) {
      begun = performance.now() - keptMs
      usage = process.cpuUsage()
    }
  }
}
