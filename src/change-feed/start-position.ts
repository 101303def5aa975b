import type { Db } from '../database/db.ts'
import type { Kind } from '../domain/changes.ts'
import { isSkipped, readTimestamp, timestampFormats } from '../domain/values/timestamp.ts'
import { ApiError, toApiError } from '../errors/api-error.ts'
import { readChanges } from '../store/change-feed/changes.ts'
import { readCurrentPositions } from '../store/change-feed/newest.ts'
import {
  createInitialPositions,
  createPositionAfter,
  type FeedPositions,
  parseTimestamp,
} from '../store/change-feed/positions.ts'
import { decodeCursor, encodeCursor, type Subscription } from './subscription.ts'

/** Returns the cursor before all changes. */
export const createInitialCursor = (subscription: Subscription) =>
  encodeCursor(subscription, createInitialPositions(subscription.kinds))

/** Returns the cursor after all current changes. */
export const createCurrentCursor = async (db: Db, subscription: Subscription) =>
  encodeCursor(subscription, await readCurrentPositions(db, subscription.service, subscription.kinds))

/** Returns the cursor of a subscription with other kinds. Kinds that stay keep their positions; added kinds begin now. */
export async function changeCursorKinds(
  db: Db,
  subscription: Subscription,
  cursor: string,
  kinds: readonly Kind[],
): Promise<string> {
  const added = kinds.filter(kind => !subscription.kinds.includes(kind))
  if (!added.length && kinds.length === subscription.kinds.length) return cursor
  const previous = decodeCursor(subscription, cursor)
  const current = added.length ? await readCurrentPositions(db, subscription.service, added) : new Map()
  const positions = new Map(
    kinds.map(kind => [kind, previous?.get(kind) ?? current.get(kind) ?? createPositionAfter(0)]),
  )
  return encodeCursor({ ...subscription, kinds }, positions)
}

/**
 * Returns the cursor to which a rewind sets a subscription. `to` is `beginning`, a time from which all changes are sent again, or a cursor.
 * Throws a field error if `to` is invalid, and `cursor_expired` if tombstones after the position have been purged.
 */
export async function parseRewindTarget(db: Db, subscription: Subscription, to: string): Promise<string> {
  if (to === 'beginning') return createInitialCursor(subscription)
  const { service, kinds } = subscription
  const { timeZone } = service.settings
  if (isSkipped(to, timeZone)) throw invalidTarget(`\`to\` is a time that the clock skips in ${timeZone}.`)
  const timestamp = readTimestamp(to, timeZone)
  const positions = timestamp === undefined ? decodeCursor(subscription, to) : getPositionsBefore(kinds, timestamp)
  if (!positions)
    throw invalidTarget(`\`to\` must be \`beginning\`, ${timestampFormats}, or a cursor for these kinds of changes.`)
  if (timestamp !== undefined && Date.parse(timestamp) > Date.now()) throw invalidTarget("`to` can't be in the future.")
  if (!(await readChanges(db, service, positions, { limit: 1, records: false }))) throw new ApiError('cursor_expired')
  return encodeCursor(subscription, positions)
}

const getPositionsBefore = (kinds: readonly Kind[], timestamp: string): FeedPositions =>
  new Map(kinds.map(kind => [kind, createPositionAfter(Math.max(0, parseTimestamp(timestamp) - 1))]))

const invalidTarget = (detail: string) => toApiError([{ pointer: '/to', code: 'invalid_field', detail }])
