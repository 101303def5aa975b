/** Errors that this process ignored, by reason: the metric `tillbridge_ignored_errors_total`. */
export const ignoredErrors = new Map<string, number>()

let onIgnored: (error: unknown, reason: string) => void = () => {}

/** Reports ignored errors to `listener`, which logs them at debug level. A process has one listener. */
export function listenToIgnoredErrors(listener: typeof onIgnored) {
  onIgnored = listener
}

/**
 * Resolves with the result of `promise`, or with undefined if it rejects. The error is counted and logged at debug level. `reason` says
 * why it doesn't matter: a short constant text, because it is a label of a metric.
 */
export function ignoreError<T>(promise: Promise<T>, reason: string): Promise<T | undefined> {
  return promise.catch((error: unknown) => {
    ignoredErrors.set(reason, (ignoredErrors.get(reason) ?? 0) + 1)
    onIgnored(error, reason)
    return undefined
  })
}

/** Marks a rejection as handled, because other code awaits the same promise later and handles its error. Returns the promise. */
export function handleLater<T extends Promise<unknown>>(promise: T): T {
  promise.catch(() => {})
  return promise
}
