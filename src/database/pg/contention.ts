import { setTimeout as delay } from 'node:timers/promises'

/** True if PostgreSQL ended a transaction because of another one (SQLSTATE 40001 or 40P01). It can be retried. */
export const isContention = (error: unknown) =>
  /^40(001|P01)$/.test(String((error as { code?: unknown } | undefined)?.code))

const retryDelaysMs = [20, 100, 500, 2_000]

/**
 * Runs a whole transaction, or one statement outside a transaction, and retries it after a deadlock or serialization failure: PostgreSQL
 * has rolled it back. `delaysMs`: milliseconds before each retry.
 */
export async function retryOnContention<T>(
  work: () => Promise<T>,
  delaysMs: readonly number[] = retryDelaysMs,
): Promise<T> {
  for (const delayMs of delaysMs) {
    try {
      return await work()
    } catch (error) {
      if (!isContention(error)) throw error
      if (delayMs) await delay(delayMs)
    }
  }
  return work()
}
