import { DatabaseAway } from '../../../db.ts'
import { ApiError } from '../../../errors.ts'
import { failpoint } from '../../../failpoints.ts'
import type { Client } from './client.ts'
import type { Writing } from './request.ts'

/** Carries a write out; a crash on either side of it has to leave what a repeat can finish. */
export async function effect(client: Client, writing: Writing) {
  failpoint('before_upstream')
  const done = await client.write(writing)
  failpoint('after_upstream')
  return done
}

/**
 * What is done here once the back office has carried a write out. Where it fails for want of the back office, or of our database, all
 * that is known is that nothing is written here: `outcome_unknown`, and the repeat finishes.
 */
export async function afterEffect<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DatabaseAway || (error instanceof ApiError && error.status >= 500))) throw error
    const unknown = new ApiError('outcome_unknown', undefined, { retryAfter: 2 })
    unknown.cause = error.cause ?? error
    throw unknown
  }
}
