import { isatty } from 'node:tty'
import type { Logger } from 'pino'

/**
 * Resolves on the first SIGTERM or SIGINT. A further one, more than a second later, ends the process at once: terminals, npm and the parent
 * process can each deliver the first. SIGHUP stops the process if it was started on a terminal, which has been closed. Otherwise the sender
 * expects a reload of the settings, which Tillbridge doesn't have, so SIGHUP only logs a warning.
 */
export function waitForShutdownSignal(log: Logger) {
  // Read now: after the terminal is closed, it is false.
  const isOnTerminal = isatty(0)
  let firstAt: number | undefined
  return new Promise<void>(resolve => {
    const requestStop = () => {
      firstAt ??= performance.now()
      resolve()
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (firstAt !== undefined && performance.now() - firstAt > 1_000) process.exit(1)
        requestStop()
      })
    process.on('SIGHUP', () => {
      if (isOnTerminal) requestStop()
      else log.warn('SIGHUP ignored: certificates reload when their files change, settings need a restart')
    })
  })
}
