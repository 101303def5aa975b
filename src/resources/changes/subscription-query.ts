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
import type { ReadContext } from '../../http/routing/operation.ts'
import { formatEvent, keepAliveComment } from '../../http/streaming/event-stream.ts'
import type { LongRequest } from '../../http/streaming/long-poll.ts'
import type { ChangesPage } from '../../store/change-feed/changes.ts'
import type { ChangesRequest } from '../../store/change-feed/page.ts'
import { createInitialPositions, type FeedPositions } from '../../store/change-feed/positions.ts'
import { waitForChanges } from '../../store/change-feed/wait.ts'
import { isBeforeRestore } from '../../store/lists/cursor.ts'

/** The query parameters that select changes. */
interface Query {
  kinds?: string
  after_cursor?: string
}

/** Milliseconds without changes after which a comment keeps the connection alive. */
const keepAliveMs = 15_000

/** Yields the changes of a stream as formatted events, beginning with `first`, until the request ends. */
export async function* streamEvents(
  db: Db,
  following: Subscription,
  first: ChangesPage,
  asked: ChangesRequest,
  { signal: over, recheckAccess: stillAdmitted }: LongRequest,
): AsyncGenerator<string> {
  let told = first
  let saidAt = Number.NEGATIVE_INFINITY
  while (!over.aborted) {
    if (told.changes.length || performance.now() - saidAt >= keepAliveMs) {
      yield renderEvents(following, told)
      saidAt = performance.now()
    }
    told = requireUnexpired(
      await waitForChanges(db, await stillAdmitted(), told, asked, { timeoutMs: recheckIntervalMs, signal: over }),
    )
  }
}

/**
 * Renders a page of changes once for all requests that share it. They have the same service and kinds, so the result depends only on the
 * page, apart from the cursors: those of a service that was restored differ from earlier ones.
 */
export function memoizePerPage<T>(make: (following: Subscription, told: ChangesPage) => T): typeof make {
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

/** Formats changes as events. The ID of the last event is the position of the page. A page without changes sends only that ID. */
const renderEvents = memoizePerPage((following, { changes, positions }) => {
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

export function requireUnexpired(told: ChangesPage | undefined): ChangesPage {
  if (!told) throw new ApiError('cursor_expired')
  return told
}

/** Returns the requested kinds in their fixed order. */
export const parseKinds = ({ kinds: named }: Query): readonly Kind[] => (named ? selectKinds(named.split(',')) : kinds)

export function validateKinds(named: string | undefined): FieldError[] {
  const unknown = (named?.split(',') ?? []).filter(word => !kinds.some(kind => kind === word))
  if (!unknown.length) return []
  const detail = `\`kinds\` must be a comma-separated list of ${kinds.map(kind => `\`${kind}\``).join(', ')}.`
  return [{ parameter: 'kinds', code: 'invalid_parameter', detail }]
}

export const createSubscription = (
  service: ReadContext['service'],
  { cursors: key }: ReadContext['keys'],
  query: Query,
): Subscription => ({
  service,
  kinds: parseKinds(query),
  key,
})

/**
 * Returns the positions of a cursor. Without a cursor: the beginning. `header` is the request header that contained the cursor, if it was not
 * in `after_cursor`. Throws `invalid_cursor`, or `cursor_expired` if it is from before a restore.
 */
export function readPositions(following: Subscription, cursor: string | undefined, header?: string): FeedPositions {
  if (cursor === undefined) return createInitialPositions(following.kinds)
  const positions = decodeCursor(following, cursor)
  if (positions && isBeforeRestore(following.service, cursor)) throw new ApiError('cursor_expired')
  if (positions) return positions
  const detail = `\`${header ?? 'after_cursor'}\` must be a cursor of the change feed with the same \`kinds\`.`
  if (header !== undefined) throw new ApiError('invalid_cursor', detail)
  throw toApiError([{ parameter: 'after_cursor', code: 'invalid_cursor', detail }])
}
