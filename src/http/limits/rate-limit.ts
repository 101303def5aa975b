import type { Service } from '../../domain/tenancy/service-settings.ts'

export type Policy = 'read' | 'write'

const windowMs = 60_000
/** Windows in memory before ended ones are removed. */
const maxWindows = 10_000

/** The use of a policy by an account in the current window, which begins with the first request. */
export interface Rate {
  policy: Policy
  quota: number
  remaining: number
  /** Seconds until the window ends. */
  resetsIn: number
  exceeded: boolean
}

/**
 * Returns a rate limiter with fixed one-minute windows per service, account and policy. The limit applies per process: an installation
 * with four processes admits up to four times as many requests. The limiter returns undefined if the limit is off.
 */
export function createRateLimiter() {
  let windows = new Map<string, { ends: number; used: number }>()
  return (service: Service, username: string, policy: Policy): Rate | undefined => {
    const quota = policy === 'read' ? service.settings.readsPerMinute : service.settings.writesPerMinute
    if (quota === 'off') return
    const now = performance.now()
    const key = `${service.id}/${policy}/${username}`
    let window = windows.get(key)
    if (!window || window.ends <= now) {
      if (windows.size > maxWindows) windows = new Map([...windows].filter(([, { ends }]) => ends > now))
      window = { ends: now + windowMs, used: 0 }
      windows.set(key, window)
    }
    window.used++
    return {
      policy,
      quota,
      remaining: Math.max(0, quota - window.used),
      // Rounds down to milliseconds first, because an inexact sum such as 60000.0000001 would give 61 s.
      resetsIn: Math.max(1, Math.ceil(Math.floor(window.ends - now) / 1_000)),
      exceeded: window.used > quota,
    }
  }
}

/** Formats the headers of a rate limit (IETF draft "RateLimit header fields for HTTP"). */
export const formatRateLimitHeaders = ({ policy, quota, remaining, resetsIn }: Rate) => ({
  'ratelimit-policy': `"${policy}";q=${quota};w=${windowMs / 1_000}`,
  ratelimit: `"${policy}";r=${remaining};t=${resetsIn}`,
})
