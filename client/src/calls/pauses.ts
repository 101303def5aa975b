import type { Answer, Request } from './exchange.ts'

/** When a policy has nothing left, the next request of it waits for its next minute instead of being refused. */
export function pausesOfPolicies() {
  /** Calls that are of another policy than their method says: what reads by POST. */
  const others = new Map<string, string>()
  const ends = new Map<string, number>()
  return {
    /** How long to wait before a request, in milliseconds. */
    before(request: Request): number {
      const policy = others.get(callOf(request)) ?? usual(request)
      return Math.max(0, (ends.get(policy) ?? 0) - Date.now())
    },
    heed(request: Request, { header }: Answer) {
      const rate = rateOf(header('ratelimit'))
      if (!rate) return
      if (rate.policy !== usual(request)) others.set(callOf(request), rate.policy)
      if (rate.left === 0) ends.set(rate.policy, Date.now() + rate.resetsInMs)
    },
  }
}

const usual = ({ method }: Request) => (method === 'GET' ? 'read' : 'write')
const callOf = ({ method, path }: Request) => `${method} ${path.split('?', 1)[0]}`

/** What is left of a policy's minute, of `"read";r=0;t=12`. */
function rateOf(header: string | null) {
  const [, policy, left, seconds] = /^"([^"]+)";r=(\d+);t=(\d+)/.exec(header ?? '') ?? []
  return policy === undefined ? undefined : { policy, left: Number(left), resetsInMs: Number(seconds) * 1_000 }
}
