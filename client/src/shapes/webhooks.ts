// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface WebhookInput {
  /** The URL that deliveries are sent to: `https`, a host with public addresses only, without a username or password. */
  url: string
  /** The kinds of records whose changes are delivered. Default: all. */
  kinds?: ('store' | 'staff' | 'product' | 'inventory' | 'customer' | 'transaction' | 'order' | 'return' | 'shipment' | 'reward-account')[] | undefined
  /** A description for your own use. */
  description?: string | null | undefined
  /** True to send all existing records first. Default: only changes from now on. */
  fromBeginning?: boolean | undefined
}

export interface WebhookChange {
  /** The URL that deliveries are sent to: `https`, a host with public addresses only, without a username or password. */
  url?: string | undefined
  /** The kinds of records whose changes are delivered. */
  kinds?: ('store' | 'staff' | 'product' | 'inventory' | 'customer' | 'transaction' | 'order' | 'return' | 'shipment' | 'reward-account')[] | undefined
  /** A description for your own use. */
  description?: string | null | undefined
}

export interface Rewind {
  /** The start of the replay: `beginning`, a time, or a cursor of `GET /changes` with the same `kinds`. */
  to: string
}

export interface Webhook {
  /** The ID of the webhook. */
  id: string
  /** The URL that deliveries are sent to. */
  url: string
  /** The kinds of records whose changes are delivered. */
  kinds: (Open<'store' | 'staff' | 'product' | 'inventory' | 'customer' | 'transaction' | 'order' | 'return' | 'shipment' | 'reward-account'>)[]
  /** A description for your own use. */
  description: string | null
  /** `failing`: no delivery has succeeded for an hour; retries continue. `paused`: nothing is sent until the webhook is resumed. */
  state: Open<'active' | 'failing' | 'paused'>
  /** Why the webhook is failing or paused. */
  stateReason: string | null
  /** The position in the change feed: the `after_cursor` of `GET /changes` with the same `kinds`. */
  cursor: string
  /** How far the endpoint is behind the change feed. */
  lag: {
    /** Since when changes are pending. Null if the endpoint is up to date. */
    pendingSince: string | null
    /** The same in seconds. */
    seconds: number
  }
  /** When a delivery last succeeded. */
  lastSuccessAt: string | null
  lastFailure: {
    /** When the delivery failed. */
    at: string
    /** The HTTP status. Null if there was no response. */
    status: number | null
    /** The error. */
    detail: string
  } | {
    /** When the delivery failed. */
    at: string
    /** The HTTP status. Null if there was no response. */
    status: number | null
    /** The error. */
    detail: string
  }
  /** When the webhook was created. */
  createdAt: string
}

export interface IssuedWebhook extends Webhook {
  /** The signing secret (Standard Webhooks). It is shown only once. */
  secret: string
}

export interface RemovedWebhook {
  /** The ID of the webhook. */
  id: string
}

export interface WebhookAttempt {
  /** The ID of the attempt. */
  id: string
  /** The ID of the delivery (`webhook-id`), which all its attempts share. */
  deliveryId: string
  /** When the attempt ended. */
  at: string
  /** The number of changes in the delivery. 0 for a test. */
  changes: number
  /** The HTTP status. Null if there was no response. */
  status: number | null
  /** The error. Null if the delivery succeeded. */
  detail: string | null
  /** The beginning of the response, at most 1 KiB. */
  response: string
  /** The duration in milliseconds. */
  milliseconds: number
}
