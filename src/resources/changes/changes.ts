import { encodeCursor, renderChange } from '../../change-feed/subscription.ts'
import { Product } from '../../domain/catalog/products.ts'
import { StaffMember } from '../../domain/catalog/staff.ts'
import { Store } from '../../domain/catalog/stores.ts'
import { kinds, longestPlace } from '../../domain/changes.ts'
import { Customer } from '../../domain/customers/customers.ts'
import { StockLevel } from '../../domain/inventory/stock-level.ts'
import { Order } from '../../domain/orders/orders.ts'
import { Return } from '../../domain/orders/returns.ts'
import { RetailTransaction } from '../../domain/orders/transactions.ts'
import { RewardAccount } from '../../domain/rewards/rewards.ts'
import { Instant, Words } from '../../domain/values/fields.ts'
import { pagingParameters } from '../../http/pagination/lists.ts'
import { get, stream } from '../../http/routing/route-definitions.ts'
import { type Static, Type } from '../../schemas/schemas.ts'
import { readChanges } from '../../store/change-feed/changes.ts'
import { readCurrentPositions } from '../../store/change-feed/newest.ts'
import { formatTimestamp, getCompleteUntil } from '../../store/change-feed/positions.ts'
import { readFirstChanges, waitForChanges } from '../../store/change-feed/wait.ts'
import { exportChanges } from './export.ts'
import { eventsOf, faultsOfKinds, followingOf, kindsOf, madeOnce, orExpired, placesOf } from './subscription-query.ts'

const ChangeShape = Type.Object(
  {
    kind: Words('What the record is.', kinds),
    id: Type.String({ description: 'Its identifier, as it shows it.', examples: ['65432'] }),
    action: Words('Whether it has changed, or left the data.', ['changed', 'removed']),
    changedAt: Instant('When it did: the stamp of its newest change.', '2026-11-21T09:31:27.803870Z'),
    path: Type.Optional(
      Type.String({ description: 'Where it can be read. Absent where it is removed.', examples: ['/customers/65432'] }),
    ),
    record: Type.Optional(
      Type.Union([Store, StaffMember, Product, StockLevel, Customer, RetailTransaction, Order, Return, RewardAccount], {
        description: 'As its path shows it, with `records=true`.',
      }),
    ),
  },
  { $id: 'RecordChange', additionalProperties: false },
)

const Meta = Type.Object(
  {
    hasNextPage: Type.Boolean({ description: 'Whether more changes follow.', examples: [true] }),
    endCursor: Type.String({
      description: 'Where to go on: the `after_cursor` of the next request, also where nothing was told.',
      examples: ['mM3Zr0ZbXq0c5nYl2V7f1lsxNzk1MzM3NDg3ODAzODcwXQ'],
    }),
    asOf: Instant(
      'Up to when everything has been told, of each of the kinds; 1970 where a kind has had nothing yet.',
      '2026-11-21T09:31:27.803870Z',
    ),
    timeZone: Type.String({
      description: 'The zone of the wall-clock times in the records.',
      examples: ['Australia/Melbourne'],
    }),
  },
  { $id: 'ChangesMeta', additionalProperties: false },
)

const ChangePage = Type.Object(
  { data: Type.Array(ChangeShape), meta: Meta },
  { $id: 'ChangePage', additionalProperties: false },
)

const following = {
  kinds: Type.Optional(
    Type.String({
      description: `What to be told of, separated by commas: ${kinds.map(kind => `\`${kind}\``).join(', ')}. Absent: all.`,
      pattern: `^(${kinds.join('|')})(,(${kinds.join('|')}))*$`,
      maxLength: 250,
      examples: ['customer,inventory'],
    }),
  ),
  records: Type.Optional(
    Type.Boolean({ description: 'Whether each change carries the record.', default: false, examples: [true] }),
  ),
  after_cursor: Type.Optional({
    ...pagingParameters().after_cursor,
    maxLength: longestPlace,
    description: 'Where the last answer ended: its `endCursor`, of the same `kinds`. Absent: from the beginning.',
  }),
}

const Query = Type.Object({
  ...following,
  wait: Type.Optional(
    Type.Integer({
      description: 'Seconds to wait for a change where there is none.',
      minimum: 0,
      maximum: 30,
      default: 0,
      examples: [30],
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ description: 'Changes in an answer.', minimum: 1, maximum: 1_000, default: 100, examples: [100] }),
  ),
})

const StreamQuery = Type.Object({
  ...following,
  after_cursor: Type.Optional({
    ...following.after_cursor,
    description: 'Where to go on, of the same `kinds`: an `endCursor`, or the `id` of an event. Absent: now.',
  }),
})

const Events = Type.String({
  description: 'Events: `id` is a cursor, `data` a `RecordChange`.',
  examples: [
    `id: mM3Zr0ZbXq0c5nYl2V7f1lsxNzk1MzM3NDg3ODAzODcwXQ\nevent: change\ndata: {"kind":"customer","id":"65432","action":"changed","changedAt":"2026-11-21T09:31:27.803870Z","path":"/customers/65432"}\n\n`,
  ],
})

/** Contract 10. */
export const changes = [
  get(
    '/changes',
    {
      operationId: 'listChanges',
      tag: 'Changes',
      summary: 'List changes',
      description:
        'A record stands in the feed once, at its newest change; whoever goes on from `endCursor` is told of every record as it is at last, and of every removal. From the beginning the feed is everything as it stands. With `wait` an answer that would be empty waits for a change.',
      query: Query,
      answer: ChangePage,
      errors: ['cursor_expired'],
      judge: ({ kinds }) => faultsOfKinds(kinds),
      whole: {
        item: ChangeShape,
        hasEndCursor: true,
        of: ({ db, service, keys, query }, turn) =>
          exportChanges(db, followingOf(service, keys, query), query.records ?? false, turn),
      },
    },
    async ({ db, service, keys, query }, waits) => {
      const { limit = 100, records = false, wait = 0 } = query
      const one = followingOf(service, keys, query)
      const asked = { limit, records }
      const read = wait ? readFirstChanges : readChanges
      let told = await read(db, service, placesOf(one, query.after_cursor), asked)
      if (told && !told.changes.length && wait) {
        const { signal, recheckAccess } = waits()
        told = await waitForChanges(db, service, told, asked, { timeoutMs: wait * 1_000, signal })
        if (told?.changes.length) await recheckAccess()
      }
      return answerOf(one, orExpired(told))
    },
  ),

  stream(
    '/changes/stream',
    {
      operationId: 'streamChanges',
      tag: 'Changes',
      summary: 'Stream changes (SSE)',
      description:
        'Each change is an event `change`: its `data` is what `GET /changes` lists, its `id` the cursor behind it. Where the connection breaks, `Last-Event-ID` (an `EventSource` sends it by itself) or `after_cursor` goes on without a gap; without either the stream begins now, with an `id` and no event. A comment comes every 15 seconds. An event `error` has the `code` of a problem, and ends the stream. An account has at most 10 streams; a client that leaves what was sent unread for 20 seconds is dropped.',
      query: StreamQuery,
      headers: {
        'Last-Event-ID': {
          description: 'The `id` of the last event that came. It goes before `after_cursor`; an empty one is none.',
          example: 'mM3Zr0ZbXq0c5nYl2V7f1lsxNzk1MzM3NDg3ODAzODcwXQ',
          required: false,
        },
      },
      answer: Events,
      errors: ['invalid_cursor', 'cursor_expired', 'too_many_streams'],
      judge: ({ kinds }) => faultsOfKinds(kinds),
    },
    async ({ db, service, keys, query, header }, waiting) => {
      const { records = false } = query
      const one = followingOf(service, keys, query)
      const asked = { limit: 100, records }
      // A client that has had no event yet has an empty one.
      const lastId = header('last-event-id') || undefined
      const after_cursor = lastId ?? query.after_cursor
      const told =
        after_cursor === undefined
          ? { changes: [], hasMore: false, positions: await readCurrentPositions(db, service, kindsOf(query)) }
          : await readFirstChanges(db, service, placesOf(one, after_cursor, lastId && 'Last-Event-ID'), asked)
      return eventsOf(db, one, orExpired(told), asked, waiting)
    },
  ),
]

const answerOf = madeOnce((following, { changes, hasMore, positions }) => {
  const meta: Static<typeof Meta> = {
    hasNextPage: hasMore,
    endCursor: encodeCursor(following, positions),
    asOf: formatTimestamp(Math.max(0, getCompleteUntil(positions))),
    timeZone: following.service.settings.timeZone,
  }
  return { record: `[${changes.map(renderChange).join(',')}]`, meta }
})
