import type { FastifyRequest } from 'fastify'
import { type Semaphore, semaphore } from '../../concurrency/semaphore.ts'
import { ApiError, errorCodes } from '../../errors/api-error.ts'

/** The maximum number of long operations that an account can run at a time. Counted per process. */
export const maxConcurrent = { too_many_streams: 10, too_many_exports: 4, too_many_imports: 2 }

/**
 * Returns a function that runs work within the limit of an account. The work counts until its promise ends, or until the promise that it
 * passed to `keepOpenUntil` ends. Throws `code` if the account is at its limit.
 */
export function concurrencyLimit(code: keyof typeof maxConcurrent) {
  const limits = new Map<string, Semaphore>()
  const create = () =>
    semaphore({
      permits: maxConcurrent[code],
      maxWaiting: 0,
      toError: () =>
        new ApiError(code, `${errorCodes[code].title} An account can have at most ${maxConcurrent[code]}.`, {
          retryAfter: 20,
        }),
    })
  return async <T>(
    { username = '' }: FastifyRequest,
    work: (keepOpenUntil: (promise: Promise<unknown>) => void) => Promise<T>,
  ): Promise<T> => {
    const limit = limits.get(username) ?? create()
    limits.set(username, limit)
    const release = await limit.acquire()
    const end = () => {
      release()
      if (!limit.active) limits.delete(username)
    }
    let background: Promise<unknown> | undefined
    try {
      return await work(promise => {
        background = promise
      })
    } finally {
      if (background) background.then(end, end)
      else end()
    }
  }
}
