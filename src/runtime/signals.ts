import { isatty } from 'node:tty'
import type { Logger } from 'pino'

/**
 * SIGTERM or Ctrl-C asks; a further one no longer waits. Terminals, npm and our own parent may each deliver the first. SIGHUP asks as well
 * where it tells that the terminal is closed; elsewhere somebody expects settings to be read again, and is told in the log.
 */
export function waitForShutdownSignal(log: Logger) {
  // Looked at now: one that is closed is a terminal no longer.
  const isOnTerminal = isatty(0)
  let since: number | undefined
  return new Promise<void>(resolve => {
    const first = () => {
      since ??= performance.now()
      resolve()
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (since !== undefined && performance.now() - since > 1_000) process.exit(1)
        first()
      })
    process.on('SIGHUP', () => {
      if (isOnTerminal) first()
      else log.warn('SIGHUP changes nothing: a certificate is read again once its file changes, settings by a restart.')
    })
  })
}
