/** What stops an import; the message is for the person who runs it. With a `cause`, it is not what is imported that is wrong. */
export class ImportError extends Error {
  override name = 'ImportError'
  /** The same as it may be kept: without what stands in the file. */
  readonly kept: string

  constructor(message: string, kept = message) {
    super(message)
    this.kept = kept
  }
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
