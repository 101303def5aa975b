import { setTimeout as delay } from 'node:timers/promises'

/** Whether two transactions stood in each other's way (SQLSTATE 40001, 40P01): one of them begins anew. */
export const isContention = (error: unknown) =>
  /^40(001|P01)$/.test(String((error as { code?: unknown } | undefined)?.code))

/** Milliseconds to wait before each further attempt. */
const waitsMs = [20, 100, 500, 2_000]

/** Does work that opens a transaction of its own, and does it again where another one stood in the way; five times at most. */
export async function pastContention<T>(work: () => Promise<T>): Promise<T> {
  for (const waitMs of waitsMs) {
    try {
      return await work()
    } catch (error) {
      if (!isContention(error)) throw error
      await delay(waitMs)
    }
  }
  return work()
}
