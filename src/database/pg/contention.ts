import { setTimeout as delay } from 'node:timers/promises'

/** Whether two transactions stood in each other's way (SQLSTATE 40001, 40P01): one of them begins anew. */
export const isContention = (error: unknown) =>
  /^40(001|P01)$/.test(String((error as { code?: unknown } | undefined)?.code))

const waitsMs = [20, 100, 500, 2_000]

/**
 * Does work that is a transaction of its own, or a statement by itself, and does it again where another one, such as a migration, stood in the
 * way: nothing of it was kept. `waits`: milliseconds before each further attempt.
 */
export async function pastContention<T>(work: () => Promise<T>, waits: readonly number[] = waitsMs): Promise<T> {
  for (const waitMs of waits) {
    try {
      return await work()
    } catch (error) {
      if (!isContention(error)) throw error
      if (waitMs) await delay(waitMs)
    }
  }
  return work()
}
