import { fairQueue, type LimitOptions, type Release } from './fair-queue.ts'

/** Limits how much runs at a time. Waiting callers are served in the order in which they arrived. */
export interface Semaphore {
  /** Resolves with a function that releases the permit. Rejects with `toError(reason)`. */
  acquire(signal?: AbortSignal): Promise<Release>
  /** Runs `work` with a permit. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Callers that have a permit. */
  readonly active: number
}

/** Runs work with a permit of a semaphore. */
export type RunLimited = Semaphore['run']

/** Creates a semaphore: a fair queue with a single key. */
export function semaphore(options: LimitOptions): Semaphore {
  const queue = fairQueue<undefined>(options)
  const acquire = (signal?: AbortSignal) => queue.acquire(undefined, signal)
  return {
    acquire,
    async run(work) {
      const release = await acquire()
      try {
        return await work()
      } finally {
        release()
      }
    },
    get active() {
      return queue.active
    },
  }
}
