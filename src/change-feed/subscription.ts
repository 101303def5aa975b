import { type Kind, kinds, pathsOf } from '../domain/changes.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import type { Change } from '../store/change-feed/changes.ts'
import {
  decodePositions,
  type EncodedPositions,
  encodePositions,
  type FeedPositions,
} from '../store/change-feed/positions.ts'
import { type CursorScope, signCursor, verifyCursor } from '../store/lists/cursor.ts'

/** Who follows what: cursors go from request to request, and from there to streams and webhooks, of the same service and kinds. */
export interface Subscription {
  service: Service
  /** In the order of all kinds. */
  kinds: readonly Kind[]
  /** What cursors are authenticated with. */
  key: Buffer
}

/** Those of the words that are kinds, in the order of all kinds. */
export const selectKinds = (words: readonly string[]): readonly Kind[] => kinds.filter(kind => words.includes(kind))

const getCursorScope = ({ service, kinds: followed, key }: Subscription): CursorScope => ({
  service,
  list: '/changes',
  filters: { kinds: followed },
  key,
})

/** Where somebody stands, as a cursor. */
export const encodeCursor = (following: Subscription, positions: FeedPositions) =>
  signCursor(getCursorScope(following), encodePositions(positions))

/** Where a cursor stands; undefined where it is none of this service and these kinds. */
export function decodeCursor(following: Subscription, cursor: string): FeedPositions | undefined {
  const written = verifyCursor<EncodedPositions>(getCursorScope(following), cursor)
  return written === undefined ? undefined : decodePositions(following.kinds, written)
}

/** A change as it is told, as JSON text. */
export function renderChange({ kind, id, action, changedAt, name, record }: Change): string {
  const path = action === 'changed' ? { path: `${pathsOf[kind]}/${encodeURIComponent(name)}` } : {}
  const head = JSON.stringify({ kind, id, action, changedAt, ...path })
  return record === null ? head : `${head.slice(0, -1)},"record":${record}}`
}
