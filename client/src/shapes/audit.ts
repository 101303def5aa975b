// Generated from the OpenAPI document by `npm run docs`.

export interface Audit {
  /** The ID of the entry. */
  id: string
  /** The time of the write. */
  at: string
  /** The account of the write. */
  username: string
  /** The operation: method and path with parameter names. */
  operation: string
  /** The path of the record. */
  subject: string
  /** The paths of the fields in the body. */
  fields: string[]
  /** The changed values of settings, roles and mappings. Null for other records. */
  changes: AuditChange[] | null
  /** The request of the write. */
  requestId: string
  /** The agent that acted for the account, as `X-Agent` named it. Null without one. */
  agent: string | null
  /** The name of the API key of the write. Null: a password. */
  apiKey: string | null
}

export interface AuditChange {
  /** The field, or the record of a batch. */
  field: string
  /** The old value. */
  before: string | null
  /** The new value. */
  after: string | null
}
