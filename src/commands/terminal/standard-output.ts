/**
 * Has a command go on to its end where nobody reads any more (`| head`), and fail where what it prints cannot be written, which is said
 * once. Without a listener Node ends the process for either, or, of `console.log`, says nothing.
 */
export function watchStandardOutput() {
  let isSaid = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isSaid) return
    isSaid = true
    process.exitCode = 1
    console.error(`tillbridge: Standard output cannot be written: ${error.message}.`)
  })
}

/** Prints a text with a secret - a `what` - that is shown this once; throws where it went nowhere. `another`: how to get another. */
export const printSecret = (text: string, what: 'password' | 'secret', another: string) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.write(`${text}\n`, error =>
      error ? reject(new Error(`The ${what} went nowhere; ${another}`)) : resolve(),
    )
  })
