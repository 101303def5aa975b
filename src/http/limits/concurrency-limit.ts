import type { FastifyRequest } from 'fastify'
import { type Semaphore, semaphore } from '../../concurrency/semaphore.ts'
import { ApiError } from '../../errors/api-error.ts'

/** What takes long, and how much of it an account may have open at a time, in this process. */
const most = { too_many_streams: 10, too_many_exports: 4, too_many_imports: 2 }

/** Counts what accounts have open: `work`, to its end, and to that of what it says goes on after it. Throws where that is as much as an account may have. */
export function openingsOf(code: keyof typeof most) {
  const limits = new Map<string, Semaphore>()
  const create = () =>
    semaphore({
      permits: most[code],
      maxWaiting: 0,
      toError: () => new ApiError(code, undefined, { retryAfter: 20 }),
    })
  return async <T>(
    { username = '' }: FastifyRequest,
    work: (goesOn: (after: Promise<unknown>) => void) => Promise<T>,
  ): Promise<T> => {
    const limit = limits.get(username) ?? create()
    limits.set(username, limit)
    const release = await limit.acquire()
    const end = () => {
      release()
      if (!limit.active) limits.delete(username)
    }
    let after: Promise<unknown> | undefined
    try {
      return await work(rest => {
        after = rest
      })
    } finally {
      if (after) after.then(end, end)
      else end()
    }
  }
}
