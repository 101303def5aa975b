import { setTimeout as delay } from 'node:timers/promises'
import { backoff } from '../concurrency/backoff.ts'

/** Maximum attempts to record that a message was sent. They take about 13 s. */
const maxAttempts = 8

/** Records that a message was sent. Retries, because a short outage of the database must not have the message sent twice. */
export async function retryUntilRecorded(record: () => Promise<unknown>) {
  const delays = backoff({ initialMs: 100, maxMs: 6_400 })
  for (let attempt = 1; ; attempt++) {
    try {
      await record()
      return
    } catch (error) {
      if (attempt === maxAttempts) throw error
      await delay(delays.next())
    }
  }
}
