import { statSync } from 'node:fs'

/** The error of a process that could not do with `path` what it had to ('read'): where another user's it is, whose, and what to do. */
export function accessDenied(path: string, action: string, cause?: unknown): Error {
  const user = process.geteuid?.()
  const { uid } = statSync(path)
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  const remedy =
    user === 0 || uid === user
      ? ''
      : ` It belongs to user ${uid}: run this as that user, or as root, or give all of DATA_DIR to this user: chown -R ${user}.`
  return new Error(`${path} cannot be ${action} by user ${user}${reason}.${remedy}`)
}
