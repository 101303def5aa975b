/** Concurrent callers with the same key share one promise. Nothing is kept after the promise is fulfilled or rejected. */

/** Runs `work` unless a run of the same key is in flight, and returns the promise of that run. */
type SingleFlight = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Creates a single-flight. A caller may join a run that began before its call. */
export function singleFlight(): SingleFlight {
  const inFlight = new Map<string, Promise<unknown>>()
  return <T>(key: string, work: () => Promise<T>) => {
    const joined = inFlight.get(key)
    if (joined) return joined as Promise<T>
    const run = work().finally(() => inFlight.delete(key))
    inFlight.set(key, run)
    return run
  }
}

/** Creates a single-flight whose results are never older than the call: a caller that arrives during a run shares the next run. */
export function freshSingleFlight(): SingleFlight {
  const inFlight = new Map<string, Promise<unknown>>()
  const queued = new Map<string, Promise<unknown>>()
  return function share<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = inFlight.get(key)
    if (!running) {
      const run = work().finally(() => inFlight.delete(key))
      inFlight.set(key, run)
      return run
    }
    const joined = queued.get(key)
    if (joined) return joined as Promise<T>
    const next = Promise.allSettled([running]).then(() => {
      queued.delete(key)
      return share(key, work)
    })
    queued.set(key, next)
    return next
  }
}
