import { setTimeout as delay } from 'node:timers/promises'

/** Marks what is out already: a database that is away for a moment must not have it sent twice. */
export async function untilMarked(mark: () => Promise<unknown>) {
  for (let waitMs = 100; ; waitMs *= 2) {
    try {
      await mark()
      return
    } catch (error) {
      if (waitMs > 6_400) throw error
      await delay(waitMs)
    }
  }
}
