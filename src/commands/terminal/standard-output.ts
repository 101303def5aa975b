import { toApiKey } from '../../store/accounts/accounts.ts'

/**
 * Lets a command finish if the reader of standard output has gone (`| head`). If a write fails for another reason, prints one message and
 * sets exit code 1. Without a listener Node ends the process, or ignores the error if `console.log` caused it.
 */
export function watchStandardOutput() {
  let isReported = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isReported) return
    isReported = true
    process.exitCode = 1
    console.error(`tillbridge: Standard output can't be written: ${error.message}.`)
  })
}

/** Prints a secret that is shown once. Throws if it can't be written. `remedy` says how to get another one. */
export const printSecret = (text: string, type: 'password' | 'secret', remedy: string) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.write(`${text}\n`, error =>
      error ? reject(new Error(`The ${type} can't be printed. ${remedy}`)) : resolve(),
    )
  })

/** Prints a new password, and the API key for `Authorization: Basic`. */
export const printCredentials = (username: string, password: string) =>
  printSecret(
    `Password: ${password}\nAPI key: ${toApiKey(username, password)}\nSave them now. They won't be shown again.`,
    'password',
    `To issue another one: tillbridge account rotate ${username}`,
  )
