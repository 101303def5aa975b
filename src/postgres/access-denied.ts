import { statSync } from 'node:fs'

/** Returns an error for a path that this process can't access. `action` is a participle such as 'read'. Names the owner if it is another user. */
export function accessDenied(path: string, action: string, cause?: unknown): Error {
  const user = process.geteuid?.()
  const { uid } = statSync(path)
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  const remedy =
    user === 0 || uid === user
      ? ''
      : ` It belongs to user ${uid}. Run this as that user or as root, or change the owner of DATA_DIR: chown -R ${user}.`
  return new Error(`${path} can't be ${action} by user ${user}${reason}.${remedy}`)
}
