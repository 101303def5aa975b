/** What stops an import; the message is for the person who runs it. With a `cause`, it is not what is imported that is wrong. */
export class ImportError extends Error {
  override name = 'ImportError'
}
