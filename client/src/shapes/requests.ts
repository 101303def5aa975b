// Made of the operations of the API by `npm run docs`.
import type { Audit } from './audit.ts'

export interface Request {
  /** The identifier of the request: its `X-Request-Id`. */
  id: string
  /** When it was answered. */
  at: string
  /** What was asked: method and path, parameters by their names. */
  operation: string
  /** The path, without its query. */
  path: string
  /** The status of the answer. */
  status: number
  /** The error that it was answered with; null: it was none. */
  code: string | null
  /** The account that asked. */
  account: string
  /** The path of what it was about: of what was made, where something was. */
  record: string
  /** How long it took. */
  milliseconds: number
  /** Whether it came with an `Idempotency-Key`. */
  keyed: boolean
}

export interface RequestDetails {
  /** The identifier of the request: its `X-Request-Id`. */
  id: string
  /** When it was answered. */
  at: string
  /** What was asked: method and path, parameters by their names. */
  operation: string
  /** The path, without its query. */
  path: string
  /** The status of the answer. */
  status: number
  /** The error that it was answered with; null: it was none. */
  code: string | null
  /** The account that asked. */
  account: string
  /** The path of what it was about: of what was made, where something was. */
  record: string
  /** How long it took. */
  milliseconds: number
  /** Whether it came with an `Idempotency-Key`. */
  keyed: boolean
  /** How many statements it asked of the database. */
  statements: number
  /** How long it waited for them; those that were under way together, each for itself. */
  databaseMilliseconds: number
  /** What else it took time for, in the order in which it ended. */
  steps: RequestStep[]
  /** What it wrote, as the audit has it. */
  audit: Audit[]
  /** E-mails of the voucher that it made. */
  mails: RequestMail[]
  /** Where it wrote something: the first attempt of each webhook since then. */
  deliveries: RequestDelivery[]
}

export interface RequestStep {
  /** What it was: `gate`, or a call of the back office by its method and endpoint. */
  what: string
  /** Milliseconds since the request came. */
  at: number
  /** How long it took. */
  milliseconds: number
  /** What a call came to: its status, or what went wrong. */
  outcome?: string
}

export interface RequestMail {
  /** The identifier of the e-mail. */
  id: string
  /** How far it has come: `queued`, `sent` or `failed`. */
  status: string
  /** How often it was tried. */
  attempts: number
  /** When it was sent. */
  sentAt: string | null
}

export interface RequestDelivery {
  /** The webhook. */
  webhookId: string
  /** The delivery. */
  deliveryId: string
  /** When the attempt ended. */
  at: string
  /** What the endpoint answered; null where it did not. */
  status: number | null
  /** Why it failed; null where it was taken. */
  detail: string | null
  /** How long it took. */
  milliseconds: number
}
