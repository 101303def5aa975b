// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface WebhookInput {
  /** Where deliveries are posted to: `https`, a host whose addresses are public, no username and no password. */
  url: string
  /** The kinds of records that it is told of. Left out: all. */
  kinds?: ('store' | 'staff' | 'product' | 'inventory' | 'customer' | 'transaction' | 'order' | 'return' | 'reward-account')[] | undefined
  /** What it is for. */
  description?: string | null | undefined
  /** Whether it is first told of everything as it stands. Without it: of what changes from now on. */
  fromBeginning?: boolean | undefined
}

export interface WebhookChange {
  /** Where deliveries are posted to: `https`, a host whose addresses are public, no username and no password. */
  url?: string | undefined
  /** The kinds of records that it is told of. */
  kinds?: ('store' | 'staff' | 'product' | 'inventory' | 'customer' | 'transaction' | 'order' | 'return' | 'reward-account')[] | undefined
  /** What it is for. */
  description?: string | null | undefined
}

export interface Rewind {
  /** From where it is told again: `beginning`, a time, or a cursor of `GET /changes` with the same `kinds`. */
  to: string
}

export interface Webhook {
  /** The identifier of the webhook. */
  id: string
  /** Where deliveries are posted to: `https`, a host whose addresses are public, no username and no password. */
  url: string
  /** The kinds of records that it is told of. */
  kinds: (Open<'store' | 'staff' | 'product' | 'inventory' | 'customer' | 'transaction' | 'order' | 'return' | 'reward-account'>)[]
  /** What it is for. */
  description: string | null
  /** `failing`: it has taken nothing for an hour, and is tried on. `paused`: nothing is sent until it is resumed. */
  state: Open<'active' | 'failing' | 'paused'>
  /** Why it is failing or paused. */
  stateReason: string | null
  /** Where it stands: what `GET /changes` with the same `kinds` takes as `after_cursor`. */
  cursor: string
  /** Whether something waits to be told. */
  behind: {
    /** Since when there has been something to tell. Null: it has been told everything. */
    since: string | null
    /** How long that is. */
    seconds: number
  }
  /** When it last took a delivery. */
  lastSuccessAt: string | null
  lastFailure: {
    /** When it was. */
    at: string
    /** What it answered; null where it did not. */
    status: number | null
    /** What went wrong. */
    detail: string
  } | {
    /** When it was. */
    at: string
    /** What it answered; null where it did not. */
    status: number | null
    /** What went wrong. */
    detail: string
  }
  /** When it was made. */
  createdAt: string
}

export interface IssuedWebhook {
  /** The identifier of the webhook. */
  id: string
  /** Where deliveries are posted to: `https`, a host whose addresses are public, no username and no password. */
  url: string
  /** The kinds of records that it is told of. */
  kinds: (Open<'store' | 'staff' | 'product' | 'inventory' | 'customer' | 'transaction' | 'order' | 'return' | 'reward-account'>)[]
  /** What it is for. */
  description: string | null
  /** `failing`: it has taken nothing for an hour, and is tried on. `paused`: nothing is sent until it is resumed. */
  state: Open<'active' | 'failing' | 'paused'>
  /** Why it is failing or paused. */
  stateReason: string | null
  /** Where it stands: what `GET /changes` with the same `kinds` takes as `after_cursor`. */
  cursor: string
  /** Whether something waits to be told. */
  behind: {
    /** Since when there has been something to tell. Null: it has been told everything. */
    since: string | null
    /** How long that is. */
    seconds: number
  }
  /** When it last took a delivery. */
  lastSuccessAt: string | null
  lastFailure: {
    /** When it was. */
    at: string
    /** What it answered; null where it did not. */
    status: number | null
    /** What went wrong. */
    detail: string
  } | {
    /** When it was. */
    at: string
    /** What it answered; null where it did not. */
    status: number | null
    /** What went wrong. */
    detail: string
  }
  /** When it was made. */
  createdAt: string
  /** What deliveries are signed with, as Standard Webhooks has it; shown this once. */
  secret: string
}

export interface RemovedWebhook {
  /** The identifier of the webhook. */
  id: string
}

export interface WebhookAttempt {
  /** The identifier of the attempt. */
  id: string
  /** The delivery: its `webhook-id`, which all its attempts share. */
  deliveryId: string
  /** When it ended. */
  at: string
  /** How many changes the delivery tells of; none where it is a test. */
  changes: number
  /** What the endpoint answered; null where it did not. */
  status: number | null
  /** Why it failed; null where the delivery was taken. */
  detail: string | null
  /** The beginning of what the endpoint answered: at most 1 KiB. */
  answer: string
  /** How long it took. */
  milliseconds: number
}
