import type { HttpResponse, Request } from './http.ts'

/** Delays requests whose policy has no quota left until the policy's next minute, so that they aren't rejected. */
export function createRateLimiter() {
  /** Calls whose policy differs from their method's, such as reads by POST. */
  const exceptions = new Map<string, string>()
  const ends = new Map<string, number>()
  return {
    /** Returns the milliseconds to wait before a request. */
    getDelayMs(request: Request): number {
      const policy = exceptions.get(getCall(request)) ?? defaultPolicy(request)
      return Math.max(0, (ends.get(policy) ?? 0) - Date.now())
    },
    update(request: Request, { header }: HttpResponse) {
      const rate = parseRateLimit(header('ratelimit'))
      if (!rate) return
      if (rate.policy !== defaultPolicy(request)) exceptions.set(getCall(request), rate.policy)
      if (rate.remaining === 0) ends.set(rate.policy, Date.now() + rate.resetsInMs)
    },
  }
}

const defaultPolicy = ({ method }: Request) => (method === 'GET' ? 'read' : 'write')
const getCall = ({ method, path }: Request) => `${method} ${path.split('?', 1)[0]}`

/** Parses a `RateLimit` header such as `"read";r=0;t=12`. */
function parseRateLimit(header: string | null) {
  const [, policy, remaining, seconds] = /^"([^"]+)";r=(\d+);t=(\d+)/.exec(header ?? '') ?? []
  return policy === undefined
    ? undefined
    : { policy, remaining: Number(remaining), resetsInMs: Number(seconds) * 1_000 }
}
