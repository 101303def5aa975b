import { constants } from 'node:os'

/**
 * What Ctrl-C and SIGTERM ask for, once; a second one no longer waits. The exit code is then the one that shells give: 130, 143. `reason`
 * is what the signal is aborted with.
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
