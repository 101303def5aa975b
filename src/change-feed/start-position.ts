import type { Db } from '../database/db.ts'
import type { Kind } from '../domain/changes.ts'
import { isSkipped, momentForms, readMoment } from '../domain/values/timestamp.ts'
import { ApiError, toApiError } from '../errors/api-error.ts'
import { changesAfter } from '../store/change-feed/changes.ts'
import { currentPositions } from '../store/change-feed/newest.ts'
import { type FeedPositions, initialPositions, parseTimestamp, positionAfter } from '../store/change-feed/positions.ts'
import { cursorAt, type Following, placesAt } from './subscription.ts'

/** Where somebody stands who has been told nothing. */
export const cursorAtBeginning = (following: Following) => cursorAt(following, initialPositions(following.kinds))

/** Where somebody stands who is told what changes from now on. */
export const cursorNow = async (db: Db, following: Following) =>
  cursorAt(following, await currentPositions(db, following.service, following.kinds))

/** Where somebody stands who follows other kinds from now on: of those that stay, where they were. */
export async function changedKinds(db: Db, before: Following, cursor: string, kinds: readonly Kind[]): Promise<string> {
  const added = kinds.filter(kind => !before.kinds.includes(kind))
  if (!added.length && kinds.length === before.kinds.length) return cursor
  const stood = placesAt(before, cursor)
  const fresh = added.length ? await currentPositions(db, before.service, added) : new Map()
  const positions = new Map(kinds.map(kind => [kind, stood?.get(kind) ?? fresh.get(kind) ?? positionAfter(0)]))
  return cursorAt({ ...before, kinds }, positions)
}

/** The place that `to` of a rewind names: `beginning`, a time of which all is told again, or a cursor. */
export async function placeOf(db: Db, following: Following, to: string): Promise<string> {
  if (to === 'beginning') return cursorAtBeginning(following)
  const { service, kinds } = following
  const { timeZone } = service.settings
  if (isSkipped(to, timeZone)) throw unfit(`\`to\` is a time that the clock of ${timeZone} skips.`)
  const moment = readMoment(to, timeZone)
  const positions = moment === undefined ? placesAt(following, to) : before(kinds, moment)
  if (!positions) throw unfit(`\`to\` is \`beginning\`, ${momentForms}, or a cursor of these kinds of changes.`)
  if (moment !== undefined && Date.parse(moment) > Date.now()) throw unfit('`to` is not in the future.')
  if (!(await changesAfter(db, service, positions, { limit: 1, records: false }))) throw new ApiError('cursor_expired')
  return cursorAt(following, positions)
}

/** Where all that was stamped earlier has been told. */
const before = (kinds: readonly Kind[], moment: string): FeedPositions =>
  new Map(kinds.map(kind => [kind, positionAfter(Math.max(0, parseTimestamp(moment) - 1))]))

const unfit = (detail: string) => toApiError([{ pointer: '/to', code: 'invalid_field', detail }])
