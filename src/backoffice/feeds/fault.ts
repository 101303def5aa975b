/** What is wrong with a line. `column` is our name of the column; empty where it is the line as a whole. */
export interface Fault {
  column: string
  reason: string
}

/** What stops an import; the message is for the person who runs it. */
export class ImportError extends Error {
  override name = 'ImportError'
}
