/** Why a message was not handed over. What it says is fit for logs: neither addresses nor passwords, nor what the server repeats of either. */
export class Undelivered extends Error {
  /** Another attempt would end the same way. */
  readonly final: boolean
  /** It is the server's or the settings' fault, and so that of every mail: somebody should look at once. */
  readonly everyMail: boolean

  constructor(message: string, { final = false, everyMail = false } = {}) {
    super(message)
    this.final = final
    this.everyMail = everyMail
  }
}
