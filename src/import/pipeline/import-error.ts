/** Stops an import. The message is for the person who runs it. With a `cause`, the failure is not an error in the file. */
export class ImportError extends Error {
  override name = 'ImportError'
  /** The message that can be stored: it has no content of the file. */
  readonly messageWithoutContent: string

  constructor(message: string, messageWithoutContent = message) {
    super(message)
    this.messageWithoutContent = messageWithoutContent
  }
}

/** An invalid format option. `detail` follows the option's name. */
export class OptionError extends ImportError {
  readonly option: string
  readonly detail: string

  constructor(option: string, detail: string) {
    super(`--${option} ${detail}`)
    this.option = option
    this.detail = detail
  }
}
