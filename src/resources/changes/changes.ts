import { encodeCursor, renderChange } from '../../change-feed/subscription.ts'
import { Product } from '../../domain/catalog/products.ts'
import { StaffMember } from '../../domain/catalog/staff.ts'
import { Store } from '../../domain/catalog/stores.ts'
import { changeFields, changeKinds, maxCursorLength } from '../../domain/changes.ts'
import { Customer } from '../../domain/customers/customers.ts'
import { StockLevel } from '../../domain/inventory/stock-level.ts'
import { Order } from '../../domain/orders/orders.ts'
import { Return } from '../../domain/orders/returns.ts'
import { RetailTransaction } from '../../domain/orders/transactions.ts'
import { RewardAccount } from '../../domain/rewards/rewards.ts'
import { Instant } from '../../domain/values/fields.ts'
import { buildPagingParameters } from '../../http/pagination/lists.ts'
import { get, stream } from '../../http/routing/route-definitions.ts'
import { type Static, Type } from '../../schemas/schemas.ts'
import { readChanges } from '../../store/change-feed/changes.ts'
import { readCurrentPositions } from '../../store/change-feed/newest.ts'
import { formatTimestamp, getCompleteUntil } from '../../store/change-feed/positions.ts'
import { readFirstChanges, waitForChanges } from '../../store/change-feed/wait.ts'
import { exportChanges } from './export.ts'
import {
  createSubscription,
  memoizePerPage,
  readPositions,
  requireUnexpired,
  streamEvents,
  validateKinds,
} from './subscription-query.ts'

const RecordChange = Type.Object(
  {
    ...changeFields,
    record: Type.Optional(
      Type.Union([Store, StaffMember, Product, StockLevel, Customer, RetailTransaction, Order, Return, RewardAccount], {
        description: 'The record, as its path returns it. Only with `records=true`.',
      }),
    ),
  },
  { $id: 'RecordChange', additionalProperties: false },
)

const Meta = Type.Object(
  {
    hasNextPage: Type.Boolean({ description: 'True if there are more changes.', examples: [true] }),
    endCursor: Type.String({
      description: 'The `after_cursor` of the next request, even if this page is empty.',
      examples: ['mM3Zr0ZbXq0c5nYl2V7f1lsxNzk1MzM3NDg3ODAzODcwXQ'],
    }),
    asOf: Instant(
      'The instant up to which all changes of all requested kinds have been returned. 1970 if a kind has no changes yet.',
      '2026-11-21T09:31:27.803870Z',
    ),
    timeZone: Type.String({
      description: 'The time zone of the local times in the records.',
      examples: ['Australia/Melbourne'],
    }),
  },
  { $id: 'ChangesMeta', additionalProperties: false },
)

const ChangePage = Type.Object(
  { data: Type.Array(RecordChange), meta: Meta },
  { $id: 'ChangePage', additionalProperties: false },
)

const followingParameters = {
  kinds: Type.Optional(
    Type.String({
      description: `The kinds of records, separated by commas: ${changeKinds.map(kind => `\`${kind}\``).join(', ')}. Default: all.`,
      pattern: `^(${changeKinds.join('|')})(,(${changeKinds.join('|')}))*$`,
      maxLength: 250,
      examples: ['customer,inventory'],
    }),
  ),
  records: Type.Optional(
    Type.Boolean({ description: 'True to include the record in each change.', default: false, examples: [true] }),
  ),
  after_cursor: Type.Optional({
    ...buildPagingParameters().after_cursor,
    maxLength: maxCursorLength,
    description: 'The `endCursor` of the previous response, with the same `kinds`. Default: from the beginning.',
  }),
}

const Query = Type.Object({
  ...followingParameters,
  wait: Type.Optional(
    Type.Integer({
      description: 'If there are no changes, wait up to this many seconds for one.',
      minimum: 0,
      maximum: 30,
      default: 0,
      examples: [30],
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      description: 'The maximum number of changes in a response.',
      minimum: 1,
      maximum: 1_000,
      default: 100,
      examples: [100],
    }),
  ),
})

const StreamQuery = Type.Object({
  ...followingParameters,
  after_cursor: Type.Optional({
    ...followingParameters.after_cursor,
    description:
      'The position to continue from, with the same `kinds`: an `endCursor`, or the `id` of an event. Default: now.',
  }),
})

const Events = Type.String({
  description: 'Server-sent events. `id` is a cursor, `data` is a `RecordChange`.',
  examples: [
    `id: mM3Zr0ZbXq0c5nYl2V7f1lsxNzk1MzM3NDg3ODAzODcwXQ\nevent: change\ndata: {"kind":"customer","id":"65432","action":"changed","changedAt":"2026-11-21T09:31:27.803870Z","path":"/customers/65432"}\n\n`,
  ],
})

/** The change feed: as pages, as a bulk export and as a stream. */
export const changeRoutes = [
  get(
    '/changes',
    {
      operationId: 'listChanges',
      tag: 'Changes',
      summary: 'List changes',
      description:
        'Each record is in the feed once, at its latest change. If you continue from `endCursor`, you receive the latest state of every changed record and every removal. Without a cursor, the feed begins with all current records. With `wait`, an empty response waits for a change.',
      query: Query,
      response: ChangePage,
      errors: ['cursor_expired'],
      validate: ({ kinds }) => validateKinds(kinds),
      bulkExport: {
        item: RecordChange,
        begin: ({ db, service, keys, query }, runLimited) =>
          exportChanges(db, createSubscription(service, keys, query), query.records ?? false, runLimited),
      },
    },
    async ({ db, service, keys, query }, beginWait) => {
      const { limit = 100, records = false, wait = 0 } = query
      const subscription = createSubscription(service, keys, query)
      const request = { limit, records }
      const read = wait ? readFirstChanges : readChanges
      let page = await read(db, service, readPositions(subscription, query.after_cursor), request)
      if (page && !page.changes.length && wait) {
        const { signal, recheckAccess } = beginWait()
        page = await waitForChanges(db, service, page, request, { timeoutMs: wait * 1_000, signal })
        if (page?.changes.length) await recheckAccess()
      }
      return renderPage(subscription, requireUnexpired(page))
    },
  ),

  stream(
    '/changes/stream',
    {
      operationId: 'streamChanges',
      tag: 'Changes',
      summary: 'Stream changes (SSE)',
      description:
        'Each change is an event `change`. Its `data` is a change of `GET /changes`, its `id` is the cursor after it. After a disconnect, `Last-Event-ID` (which an `EventSource` sends automatically) or `after_cursor` continues without a gap. Without both, the stream begins now, with an `id` and no event. A comment is sent every 15 seconds. An event `error` has the `code` of a problem and ends the stream. An account can have 10 open streams per process. A client that reads nothing for 20 seconds is disconnected.',
      query: StreamQuery,
      headers: {
        'Last-Event-ID': {
          description: 'The `id` of the last received event. It overrides `after_cursor`. An empty header is ignored.',
          required: false,
        },
      },
      response: Events,
      errors: ['invalid_cursor', 'cursor_expired', 'too_many_streams'],
      validate: ({ kinds }) => validateKinds(kinds),
    },
    async ({ db, service, keys, query, header }, longRequest) => {
      const { records = false } = query
      const subscription = createSubscription(service, keys, query)
      const request = { limit: 100, records }
      // A client that has received no event yet sends an empty header.
      const lastId = header('last-event-id') || undefined
      const cursor = lastId ?? query.after_cursor
      const positions =
        cursor === undefined ? undefined : readPositions(subscription, cursor, lastId && 'Last-Event-ID')
      const page = positions
        ? await readFirstChanges(db, service, positions, request)
        : { changes: [], hasMore: false, positions: await readCurrentPositions(db, service, subscription.kinds) }
      return streamEvents(db, subscription, requireUnexpired(page), request, longRequest)
    },
  ),
]

const renderPage = memoizePerPage((subscription, { changes, hasMore, positions }) => {
  const meta: Static<typeof Meta> = {
    hasNextPage: hasMore,
    endCursor: encodeCursor(subscription, positions),
    asOf: formatTimestamp(Math.max(0, getCompleteUntil(positions))),
    timeZone: subscription.service.settings.timeZone,
  }
  return { record: `[${changes.map(renderChange).join(',')}]`, meta }
})
