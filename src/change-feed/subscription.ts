import { changeKinds, type Kind, pathsByKind } from '../domain/changes.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import type { Change } from '../store/change-feed/changes.ts'
import {
  decodePositions,
  type EncodedPositions,
  encodePositions,
  type FeedPositions,
} from '../store/change-feed/positions.ts'
import { type CursorScope, signCursor, verifyCursor } from '../store/lists/cursor.ts'

/**
 * A service and the kinds of changes that a reader follows. Requests, streams and webhooks with the same subscription accept each other's
 * cursors.
 */
export interface Subscription {
  service: Service
  /** In the order of all kinds. */
  kinds: readonly Kind[]
  /** Key of the cursors' MAC. */
  key: Buffer
}

/** Returns the kinds with these names, in the order of all kinds. Ignores other names. */
export const selectKinds = (names: readonly string[]): readonly Kind[] =>
  changeKinds.filter(kind => names.includes(kind))

const getCursorScope = ({ service, kinds: subscribed, key }: Subscription): CursorScope => ({
  service,
  list: '/changes',
  filters: { kinds: subscribed },
  key,
})

export const encodeCursor = (subscription: Subscription, positions: FeedPositions) =>
  signCursor(getCursorScope(subscription), encodePositions(positions))

/** Returns the positions of a cursor, or undefined if the cursor is invalid or belongs to another service or other kinds. */
export function decodeCursor(subscription: Subscription, cursor: string): FeedPositions | undefined {
  const encoded = verifyCursor<EncodedPositions>(getCursorScope(subscription), cursor)
  return encoded === undefined ? undefined : decodePositions(subscription.kinds, encoded)
}

/** Returns a change as JSON for responses and deliveries. */
export function renderChange({ kind, id, action, changedAt, name, record }: Change): string {
  const path = action === 'changed' ? { path: `${pathsByKind[kind]}/${encodeURIComponent(name)}` } : {}
  const json = JSON.stringify({ kind, id, action, changedAt, ...path })
  return record === null ? json : `${json.slice(0, -1)},"record":${record}}`
}
