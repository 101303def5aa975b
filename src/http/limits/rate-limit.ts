import type { Service } from '../../domain/tenancy/service-settings.ts'

export type Policy = 'read' | 'write'

const windowMs = 60_000

/** What an account has used of a policy's minute. */
export interface Rate {
  policy: Policy
  quota: number
  remaining: number
  /** Seconds until the minute ends. */
  resetsIn: number
  exceeded: boolean
}

/** Counts requests per service, account and policy, in this process (contract 1.6). The answer is undefined where the limit is off. */
export function rateLimiter() {
  let windows = new Map<string, { ends: number; used: number }>()
  return (service: Service, username: string, policy: Policy): Rate | undefined => {
    const quota = policy === 'read' ? service.settings.readsPerMinute : service.settings.writesPerMinute
    if (quota === 'off') return
    const now = performance.now()
    const key = `${service.id}/${policy}/${username}`
    let window = windows.get(key)
    if (!window || window.ends <= now) {
      if (windows.size > 10_000) windows = new Map([...windows].filter(([, other]) => other.ends > now))
      window = { ends: now + windowMs, used: 0 }
      windows.set(key, window)
    }
    window.used++
    return {
      policy,
      quota,
      remaining: Math.max(0, quota - window.used),
      // Whole milliseconds first: a sum of fractions is not quite what was added.
      resetsIn: Math.max(1, Math.ceil(Math.floor(window.ends - now) / 1_000)),
      exceeded: window.used > quota,
    }
  }
}

/** The headers that tell of it (the IETF's draft on RateLimit header fields). */
export const rateHeaders = ({ policy, quota, remaining, resetsIn }: Rate) => ({
  'ratelimit-policy': `"${policy}";q=${quota};w=${windowMs / 1_000}`,
  ratelimit: `"${policy}";r=${remaining};t=${resetsIn}`,
})
