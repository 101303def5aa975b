import type { IncomingHttpHeaders } from 'node:http'
import type { PlatformSyncName } from '../../domain/ecommerce/connection-settings.ts'

/* Events of a platform (its webhooks). An event says only which record to read: it can be late, repeated, out of order or lost. */

/** The reader of an event's record: a sync, or the comparison of single levels. */
export type EventTarget = PlatformSyncName | 'stock'

export interface PlatformEvent {
  /** Identifies the delivery: the same for each attempt. */
  id: string
  target: EventTarget
  /** The global ID of the record: a location, product, inventory item or customer. */
  subjectId: string
  /** The customer with whom the subject was merged. */
  successorId?: string
  /** The level of a stock event, with the quantity that shoppers can buy. Our own pushes cause such events too. */
  level?: { locationId: string; available: number | null }
}

/** A request that claims to be from the platform. */
export interface EventRequest {
  body: Buffer
  headers: IncomingHttpHeaders
  /** The shop of the connection, such as `https://luma-au.myshopify.com`. */
  url: string
  /** The current secret, and the previous one during a rotation. */
  secrets: readonly string[]
}

/** Verifies and reads a request. `forged`: no secret has signed it, or it is for another shop. `ignored`: its topic needs no work. */
export type ReadEvent = (request: EventRequest) => PlatformEvent | 'ignored' | 'forged'

/** The events that a platform sends to this installation. */
export interface SubscriptionState {
  /** The topics that are sent to the URL. */
  present: readonly string[]
  /** The topics that aren't. */
  missing: readonly string[]
  /** The topics that the app can't receive, with the scope that it lacks. */
  denied: readonly { topic: string; scope: string }[]
}

export interface SubscriptionPort {
  read(url: string, signal: AbortSignal): Promise<SubscriptionState>
  /** Creates the missing subscriptions, and deletes subscriptions with an old URL of this connection. Returns the state before. */
  ensure(url: string, signal: AbortSignal): Promise<SubscriptionState>
  /** Deletes the subscriptions of this connection, at any URL. */
  remove(path: string, signal: AbortSignal): Promise<void>
}

/** The events of a platform that sends any. */
export interface EventPort extends SubscriptionPort {
  /** The maximum number of IDs of one call of `findExisting`. */
  readonly maxIds: number
  /** Returns the global IDs whose record exists: an event can be false. */
  findExisting(ids: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>
}
