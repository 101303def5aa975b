import { recheckIntervalMs } from '../../auth/sign-in.ts'
import {
  decodeCursor,
  encodeCursor,
  renderChange,
  type Subscription,
  selectKinds,
} from '../../change-feed/subscription.ts'
import type { Db } from '../../database/db.ts'
import { changeKinds } from '../../domain/changes.ts'
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

/** Yields the changes of a stream as formatted events, beginning with `first`, until the request ends or the service is restored. */
export async function* streamEvents(
  db: Db,
  subscription: Subscription,
  first: ChangesPage,
  request: ChangesRequest,
  { signal, recheckAccess }: LongRequest,
): AsyncGenerator<string> {
  let page = first
  let sentAt = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    if (page.changes.length || performance.now() - sentAt >= keepAliveMs) {
      yield renderEvents(subscription, page)
      sentAt = performance.now()
    }
    const service = await recheckAccess()
    // Its cursors expired, and the restored changes can be before its positions. The client reconnects and begins again.
    if (service.restoredAt !== subscription.service.restoredAt) return
    page = requireUnexpired(await waitForChanges(db, service, page, request, { timeoutMs: recheckIntervalMs, signal }))
  }
}

/**
 * Caches the rendering of a page for all requests that share the page object. They have the same service and kinds. The cursors also
 * depend on `restoredAt`, because a restore makes earlier cursors invalid.
 */
export function memoizePerPage<T>(render: (subscription: Subscription, page: ChangesPage) => T): typeof render {
  const cache = new WeakMap<ChangesPage, { restoredAt: string | undefined; rendered: T }>()
  return (subscription, page) => {
    const { restoredAt } = subscription.service
    const cached = cache.get(page)
    if (cached && cached.restoredAt === restoredAt) return cached.rendered
    const rendered = render(subscription, page)
    cache.set(page, { restoredAt, rendered })
    return rendered
  }
}

/** Formats changes as events. The ID of the last event is the position of the page. A page without changes sends only that ID. */
const renderEvents = memoizePerPage((subscription, { changes, positions }) => {
  const encodeId = (position: FeedPositions) => encodeCursor(subscription, position)
  if (!changes.length) return keepAliveComment + formatEvent({ id: encodeId(positions) })
  const last = changes.at(-1)
  const events = changes.map(change =>
    formatEvent({
      id: encodeId(change === last ? positions : change.positions),
      event: 'change',
      data: renderChange(change),
    }),
  )
  return events.join('')
})

/** Returns the page. Throws `cursor_expired` if it is undefined. */
export function requireUnexpired(page: ChangesPage | undefined): ChangesPage {
  if (!page) throw new ApiError('cursor_expired')
  return page
}

export function validateKinds(list: string | undefined): FieldError[] {
  const unknown = (list?.split(',') ?? []).filter(name => !changeKinds.some(kind => kind === name))
  if (!unknown.length) return []
  const detail = `\`kinds\` must be a comma-separated list of ${changeKinds.map(kind => `\`${kind}\``).join(', ')}.`
  return [{ parameter: 'kinds', code: 'invalid_parameter', detail }]
}

export const createSubscription = (
  service: ReadContext['service'],
  { cursors: key }: ReadContext['keys'],
  query: Query,
): Subscription => ({
  service,
  kinds: query.kinds ? selectKinds(query.kinds.split(',')) : changeKinds,
  key,
})

/**
 * Returns the positions of a cursor. Without a cursor: the beginning. `header` is the request header that contained the cursor, if it was not
 * in `after_cursor`. Throws `invalid_cursor`, or `cursor_expired` if it is from before a restore.
 */
export function readPositions(subscription: Subscription, cursor: string | undefined, header?: string): FeedPositions {
  if (cursor === undefined) return createInitialPositions(subscription.kinds)
  const positions = decodeCursor(subscription, cursor)
  if (positions && isBeforeRestore(subscription.service, cursor)) throw new ApiError('cursor_expired')
  if (positions) return positions
  const detail = `\`${header ?? 'after_cursor'}\` must be a cursor of the change feed with the same \`kinds\`.`
  if (header !== undefined) throw new ApiError('invalid_cursor', detail)
  throw toApiError([{ parameter: 'after_cursor', code: 'invalid_cursor', detail }])
}
