import { setTimeout as delay } from 'node:timers/promises'

interface BackoffOptions {
  /** Milliseconds of the first delay. */
  initialMs: number
  /** Milliseconds that no delay exceeds (before jitter). */
  maxMs: number
  /** Each delay is the previous one times this. Default 2. */
  factor?: number
}

/** Creates a sequence of growing delays. */
export function backoff({ initialMs, maxMs, factor = 2 }: BackoffOptions) {
  let delayMs = initialMs
  return {
    /** Returns the next delay in milliseconds. */
    next(): number {
      const current = delayMs
      delayMs = Math.min(delayMs * factor, maxMs)
      return current
    },
    /** Begins again with `initialMs`, after a success. */
    reset() {
      delayMs = initialMs
    },
  }
}

/** Varies a delay by up to a fifth of it in both directions, so that several processes don't retry at the same time. */
export const withJitter = (delayMs: number) => delayMs * (0.8 + 0.4 * Math.random())

interface SleepOptions {
  /** Ends the sleep early. */
  signal?: AbortSignal | undefined
  /** True if the sleep keeps the process alive. Default true. */
  ref?: boolean
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export const sleep = (ms: number, options: SleepOptions = {}): Promise<void> =>
  delay(ms, undefined, options).catch(() => {})

/** True if `work` is resolved or rejected within `ms`. Its result and its error are ignored. */
export const finishesWithin = (work: Promise<unknown>, ms: number): Promise<boolean> =>
  new Promise(resolve => {
    const timer = setTimeout(() => resolve(false), ms)
    const end = () => {
      clearTimeout(timer)
      resolve(true)
    }
    work.then(end, end)
  })
