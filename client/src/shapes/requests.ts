// Generated from the OpenAPI document by `npm run docs`.
import type { Audit } from './audit.ts'

export interface Request {
  /** The ID of the request (`X-Request-Id`). */
  id: string
  /** When the response was sent. */
  at: string
  /** The operation: method and path with parameter names. */
  operation: string
  /** The path without the query string. */
  path: string
  /** The status of the response. */
  status: number
  /** The error code. Null if there was no error. */
  code: string | null
  /** The account of the request. */
  account: string
  /** The path of the record. If the request created one, the path of the new record. */
  record: string
  /** The duration in milliseconds. */
  milliseconds: number
  /** True if the request had an `Idempotency-Key`. */
  hasIdempotencyKey: boolean
}

export interface RequestDetails extends Request {
  /** The number of SQL statements. */
  statements: number
  /** Milliseconds during which at least one of them ran. */
  databaseMilliseconds: number
  /** Other steps, in the order in which they ended. */
  steps: RequestStep[]
  /** The audit entries of the request. */
  audit: Audit[]
  /** The emails of the voucher that the request issued. */
  emails: RequestEmail[]
  /** If the request changed something: the first delivery attempt of each webhook after it. */
  deliveries: RequestDelivery[]
}

export interface RequestStep {
  /** `admission` (authentication and limits), or a back-office call by method and endpoint. */
  name: string
  /** Milliseconds since the request arrived. */
  at: number
  /** The duration in milliseconds. */
  milliseconds: number
  /** The status of a call, or its error. */
  outcome?: string
}

export interface RequestEmail {
  /** The ID of the email. */
  id: string
  /** The state: `queued`, `sent` or `failed`. */
  status: string
  /** The number of attempts. */
  attempts: number
  /** When the email was sent. */
  sentAt: string | null
}

export interface RequestDelivery {
  /** The webhook. */
  webhookId: string
  /** The delivery. */
  deliveryId: string
  /** When the attempt ended. */
  at: string
  /** The HTTP status. Null if there was no response. */
  status: number | null
  /** The error. Null if the delivery succeeded. */
  detail: string | null
  /** The duration in milliseconds. */
  milliseconds: number
}
