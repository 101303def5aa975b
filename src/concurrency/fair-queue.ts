/** Why a caller got no permit: too many callers wait, it waited too long, or its signal was aborted. */
export type Rejection = 'full' | 'timeout' | 'aborted'

export interface LimitOptions {
  /** How many callers can have a permit at a time. */
  permits: number
  /** How many callers can wait; one more is rejected. Default: no limit. */
  maxWaiting?: number
  /** Milliseconds that a caller waits before it is rejected. Default: no limit. */
  timeoutMs?: number
  /** Creates the error of a rejected caller. Default: an `Error` that names the reason. */
  toError?: (reason: Rejection) => Error
}

/** Releases a permit. Further calls have no effect. */
export type Release = () => void

/**
 * Shares permits between keys: keys with waiting callers take turns, so that one key's crowd doesn't delay the others. Callers of one key
 * are served in the order in which they arrived.
 */
export function fairQueue<K>({ permits, maxWaiting, timeoutMs, toError = defaultError }: LimitOptions) {
  // The waiting callers of each key, in order of arrival. The key whose turn is next comes first.
  const lines = new Map<K, Set<() => void>>()
  let active = 0
  let waiting = 0

  const grant = (): Release => {
    active++
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      active--
      startNext()
    }
  }

  function startNext() {
    const [next] = lines
    if (!next) return
    const [key, line] = next
    const [start] = line
    if (!start) return
    leave(key, start)
    // Its turn is over: the key moves to the end if more of its callers wait.
    if (lines.delete(key)) lines.set(key, line)
    start()
  }

  function leave(key: K, start: () => void) {
    const line = lines.get(key)
    if (!line?.delete(start)) return
    waiting--
    if (!line.size) lines.delete(key)
  }

  return {
    /** Resolves with a function that releases the permit. Rejects with `toError(reason)`. */
    async acquire(key: K, signal?: AbortSignal): Promise<Release> {
      // The signal only ends waiting. The caller's work checks it too.
      if (active < permits) return grant()
      if (signal?.aborted) throw toError('aborted')
      if (maxWaiting !== undefined && waiting >= maxWaiting) throw toError('full')
      const { promise, resolve, reject } = Promise.withResolvers<Release>()
      const start = () => resolve(grant())
      const giveUp = (reason: Rejection) => {
        leave(key, start)
        reject(toError(reason))
      }
      const onAbort = () => giveUp('aborted')
      const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs, 'timeout')
      signal?.addEventListener('abort', onAbort, { once: true })
      const line = lines.get(key) ?? new Set()
      lines.set(key, line.add(start))
      waiting++
      return promise.finally(() => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      })
    },
    /** Callers that have a permit. */
    get active() {
      return active
    },
    /** Callers that wait for a permit. */
    get waiting() {
      return waiting
    },
  }
}

const defaultError = (reason: Rejection) => new Error(`no permit: ${reason}`)
