import { setTimeout } from 'node:timers/promises'
import { ApiError, asApiError } from '../../../errors/api-error.ts'

/** Milliseconds that a caller waits for the back office. What comes later is stored all the same. */
const patienceMs = 3_000

/** Asks for something, and stores it. Answers what is wrong with what could be stored in part alone. */
type Bring = () => Promise<ApiError | undefined>

/** Brings what a caller waits for; answers why it may not be as it stands at the back office. */
export type Asked = (key: string, bring: Bring) => Promise<ApiError | undefined>

/** What is asked for by several callers at once, by its key, is asked for once. */
export function openAsked(): Asked {
  const underWay = new Map<string, ReturnType<Bring>>()
  function once(key: string, bring: Bring) {
    const known = underWay.get(key)
    if (known) return known
    const asking = bring().finally(() => underWay.delete(key))
    // It may fail when nobody waits for it any more.
    asking.catch(() => {})
    underWay.set(key, asking)
    return asking
  }
  return (key, bring) => within(patienceMs, once(key, bring)).catch(asApiError)
}

/** What comes of work; where it takes longer, that it does. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | ApiError> {
  const over = new AbortController()
  const late = setTimeout(ms, undefined, { signal: over.signal }).then(
    () => new ApiError('back_office_unavailable', 'The back office did not respond in time.'),
    // It did.
    () => new ApiError('back_office_unavailable'),
  )
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}
