import type { Db } from '../database/db.ts'
import type { Kind } from '../domain/changes.ts'
import { isSkipped, momentForms, readMoment } from '../domain/values/timestamp.ts'
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

/** Where somebody stands who has been told nothing. */
export const createInitialCursor = (following: Subscription) =>
  encodeCursor(following, createInitialPositions(following.kinds))

/** Where somebody stands who is told what changes from now on. */
export const createCurrentCursor = async (db: Db, following: Subscription) =>
  encodeCursor(following, await readCurrentPositions(db, following.service, following.kinds))

/** Where somebody stands who follows other kinds from now on: of those that stay, where they were. */
export async function changeCursorKinds(
  db: Db,
  before: Subscription,
  cursor: string,
  kinds: readonly Kind[],
): Promise<string> {
  const added = kinds.filter(kind => !before.kinds.includes(kind))
  if (!added.length && kinds.length === before.kinds.length) return cursor
  const stood = decodeCursor(before, cursor)
  const fresh = added.length ? await readCurrentPositions(db, before.service, added) : new Map()
  const positions = new Map(kinds.map(kind => [kind, stood?.get(kind) ?? fresh.get(kind) ?? createPositionAfter(0)]))
  return encodeCursor({ ...before, kinds }, positions)
}

/** The place that `to` of a rewind names: `beginning`, a time of which all is told again, or a cursor. */
export async function parseRewindTarget(db: Db, following: Subscription, to: string): Promise<string> {
  if (to === 'beginning') return createInitialCursor(following)
  const { service, kinds } = following
  const { timeZone } = service.settings
  if (isSkipped(to, timeZone)) throw unfit(`\`to\` is a time that the clock of ${timeZone} skips.`)
  const moment = readMoment(to, timeZone)
  const positions = moment === undefined ? decodeCursor(following, to) : before(kinds, moment)
  if (!positions) throw unfit(`\`to\` is \`beginning\`, ${momentForms}, or a cursor of these kinds of changes.`)
  if (moment !== undefined && Date.parse(moment) > Date.now()) throw unfit('`to` is not in the future.')
  if (!(await readChanges(db, service, positions, { limit: 1, records: false }))) throw new ApiError('cursor_expired')
  return encodeCursor(following, positions)
}

/** Where all that was stamped earlier has been told. */
const before = (kinds: readonly Kind[], moment: string): FeedPositions =>
  new Map(kinds.map(kind => [kind, createPositionAfter(Math.max(0, parseTimestamp(moment) - 1))]))

const unfit = (detail: string) => toApiError([{ pointer: '/to', code: 'invalid_field', detail }])
