// Generated from the OpenAPI document by `npm run docs`.

export interface Alert {
  /** The ID of the alert. */
  id: string
  /** The kind of problem. Stable, for programs. */
  kind: string
  /** The affected sync, file, email, voucher, account or webhook. Empty if it is the service. */
  subject: string
  /** The problem, for people. */
  title: string
  /** The details of the last occurrence. */
  detail: string
  /** The steps to fix it. */
  remedy: string
  /** The API path with details. */
  path: string | null
  /** True if the alert disappears when its cause is fixed. */
  autoResolves: boolean
  /** The number of occurrences. */
  times: number
  /** The first occurrence. */
  since: string
  /** The last occurrence. */
  lastAt: string
}
