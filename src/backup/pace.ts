import { setTimeout as delay } from 'node:timers/promises'

/** The part of one core's time that a backup beside a service takes unless told otherwise: PostgreSQL, which reads the rows, takes less than that again. */
export const usualShare = 0.15

/** Milliseconds: shorter waits are put together, and what was not used for longer is not made up for. */
const leastMs = 2
const longestMs = 100

/**
 * Hands on what comes, slowly enough that this process takes no more than a share of one core's time: in many small pieces, so that
 * whoever is served beside it waits for milliseconds. 1 and more: as fast as it can.
 */
export async function* paced<T>(pieces: AsyncIterable<T>, share: number): AsyncGenerator<T> {
  let begun = performance.now()
  let usage = process.cpuUsage()
  for await (const piece of pieces) {
    yield piece
    if (share >= 1) continue
    const { user, system } = process.cpuUsage(usage)
    const aheadMs = (user + system) / 1_000 / share - (performance.now() - begun)
    if (aheadMs > leastMs) await delay(aheadMs)
    if (Math.abs(aheadMs) > longestMs) {
      begun = performance.now()
      usage = process.cpuUsage()
    }
  }
}
