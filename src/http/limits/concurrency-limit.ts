import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'

/** What takes long, and how much of it an account may have open at a time, in this process. */
const most = { too_many_streams: 10, too_many_exports: 4, too_many_imports: 2 }

/** Counts what accounts have open: `work`, to its end, and to that of what it says goes on after it. Throws where that is as much as an account may have. */
export function openingsOf(code: keyof typeof most) {
  const open = new Map<string, number>()
  return async <T>(
    { username = '' }: FastifyRequest,
    work: (goesOn: (after: Promise<unknown>) => void) => Promise<T>,
  ): Promise<T> => {
    const count = open.get(username) ?? 0
    if (count >= most[code]) throw new ApiError(code, undefined, { retryAfter: 20 })
    open.set(username, count + 1)
    const end = () => {
      const left = (open.get(username) ?? 1) - 1
      if (left) open.set(username, left)
      else open.delete(username)
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
