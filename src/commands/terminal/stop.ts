import { constants } from 'node:os'

/**
 * Returns a signal that is aborted with `reason` by the first Ctrl-C or SIGTERM; a second one ends the process immediately. Sets the exit
 * code that shells use: 130 or 143. `end` removes the handlers.
 */
export function stopBySignal(reason?: Error) {
  const stop = new AbortController()
  const onSignal = (signal: NodeJS.Signals) => {
    process.exitCode = 128 + constants.signals[signal]
    stop.abort(reason)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal)
  const end = () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal)
  }
  return { signal: stop.signal, end }
}
