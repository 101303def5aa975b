import { recheckIntervalMs } from '../../auth/sign-in.ts'
import {
  decodeCursor,
  encodeCursor,
  renderChange,
  type Subscription,
  selectKinds,
} from '../../change-feed/subscription.ts'
import type { Db } from '../../database/db.ts'
import { type Kind, kinds } from '../../domain/changes.ts'
import { ApiError, type FieldError, toApiError } from '../../errors/api-error.ts'
import type { Context } from '../../http/routing/operation.ts'
import { formatEvent, keepAliveComment } from '../../http/streaming/event-stream.ts'
import type { LongRequest } from '../../http/streaming/long-poll.ts'
import type { ChangesPage } from '../../store/change-feed/changes.ts'
import type { ChangesRequest } from '../../store/change-feed/page.ts'
import { createInitialPositions, type FeedPositions } from '../../store/change-feed/positions.ts'
import { waitForChanges } from '../../store/change-feed/wait.ts'
import { isBeforeRestore } from '../../store/lists/cursor.ts'

/** What is followed, as a query says it. */
interface Query {
  kinds?: string
  after_cursor?: string
}

/** Milliseconds of quiet, after which a comment shows that a stream is alive. */
const quietMs = 15_000

/** What a stream has been told, and what comes behind it, as texts of events. */
export async function* eventsOf(
  db: Db,
  following: Subscription,
  first: ChangesPage,
  asked: ChangesRequest,
  { signal: over, recheckAccess: stillAdmitted }: LongRequest,
): AsyncGenerator<string> {
  let told = first
  let saidAt = Number.NEGATIVE_INFINITY
  while (!over.aborted) {
    if (told.changes.length || performance.now() - saidAt >= quietMs) {
      yield eventsIn(following, told)
      saidAt = performance.now()
    }
    told = orExpired(
      await waitForChanges(db, await stillAdmitted(), told, asked, { timeoutMs: recheckIntervalMs, signal: over }),
    )
  }
}

/**
 * What is made of changes that were read for many at once is made once for all of them. They follow the same kinds of one service;
 * what else `make` takes of them is of the first who asks, but for cursors, which are of the data that somebody began in.
 */
export function madeOnce<T>(make: (following: Subscription, told: ChangesPage) => T): typeof make {
  const made = new WeakMap<ChangesPage, { restoredAt: string | undefined; it: T }>()
  return (following, told) => {
    const { restoredAt } = following.service
    const known = made.get(told)
    if (known && known.restoredAt === restoredAt) return known.it
    const it = make(following, told)
    made.set(told, { restoredAt, it })
    return it
  }
}

/** The last change stands where all do who have been told everything; where there is none, they are told that place all the same. */
const eventsIn = madeOnce((following, { changes, positions }) => {
  const idOf = (at: FeedPositions) => encodeCursor(following, at)
  if (!changes.length) return keepAliveComment + formatEvent({ id: idOf(positions) })
  const last = changes.at(-1)
  const texts = changes.map(change =>
    formatEvent({
      id: idOf(change === last ? positions : change.positions),
      event: 'change',
      data: renderChange(change),
    }),
  )
  return texts.join('')
})

export function orExpired(told: ChangesPage | undefined): ChangesPage {
  if (!told) throw new ApiError('cursor_expired')
  return told
}

/** The kinds that are followed, in their order. */
export const kindsOf = ({ kinds: named }: Query): readonly Kind[] => (named ? selectKinds(named.split(',')) : kinds)

export function faultsOfKinds(named: string | undefined): FieldError[] {
  const unknown = (named?.split(',') ?? []).filter(word => !kinds.some(kind => kind === word))
  if (!unknown.length) return []
  const detail = `\`kinds\` must be a comma-separated list of ${kinds.map(kind => `\`${kind}\``).join(', ')}.`
  return [{ parameter: 'kinds', code: 'invalid_parameter', detail }]
}

export const followingOf = (
  service: Context['service'],
  { cursors: key }: Context['keys'],
  query: Query,
): Subscription => ({
  service,
  kinds: kindsOf(query),
  key,
})

/** The positions that a cursor stands for; the beginning without one. `header`: the request header that it came in, if not in `after_cursor`. */
export function placesOf(following: Subscription, cursor: string | undefined, header?: string): FeedPositions {
  if (cursor === undefined) return createInitialPositions(following.kinds)
  const positions = decodeCursor(following, cursor)
  if (positions && isBeforeRestore(following.service, cursor)) throw new ApiError('cursor_expired')
  if (positions) return positions
  const detail = `\`${header ?? 'after_cursor'}\` must be a cursor of the change feed with the same \`kinds\`.`
  if (header !== undefined) throw new ApiError('invalid_cursor', detail)
  throw toApiError([{ parameter: 'after_cursor', code: 'invalid_cursor', detail }])
}
