import { setTimeout as delay } from 'node:timers/promises'

/** The part of one core's time that a backup beside a service takes unless told otherwise: PostgreSQL, which reads the rows, takes less than that again. */
export const usualShare = 0.15

/** Milliseconds: shorter waits are put together. */
const leastMs = 2
/** Milliseconds of its own time that it may take at once: a small backup is over before anybody notices. */
const burstMs = 200

/**
 * Hands on what comes, slowly enough that this process takes no more than a share of one core's time: in many small pieces, so that
 * whoever is served beside it waits for milliseconds. 1 and more: as fast as it can.
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
