/** What stops an import; the message is for the person who runs it. With a `cause`, it is not what is imported that is wrong. */
export class ImportError extends Error {
  override name = 'ImportError'
}

/** An option that says how files are written, and cannot be: `detail` reads on after its name and value. */
export class OptionError extends ImportError {
  readonly option: string
  readonly detail: string

  constructor(option: string, detail: string) {
    super(`--${option} ${detail}`)
    this.option = option
    this.detail = detail
  }
}
