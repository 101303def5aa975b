// Made of the operations of the API by `npm run docs`.

export interface Audit {
  /** The identifier of the line. */
  id: string
  /** When it was written. */
  at: string
  /** The account that wrote. */
  username: string
  /** What it did: method and path, parameters by their names. */
  operation: string
  /** The path of what was written. */
  subject: string
  /** The fields that were given, by their paths. */
  fields: string[]
  /** The request that did it. */
  requestId: string
}
