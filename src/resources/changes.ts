import { type Static, Type } from 'typebox'
import { type Kind, kinds, pathsOf } from '../domain/changes.ts'
import { Customer } from '../domain/customers/customers.ts'
import { Words } from '../domain/fields.ts'
import { StockLevel } from '../domain/goods/inventory.ts'
import { Product } from '../domain/goods/products.ts'
import { StaffMember } from '../domain/goods/staff.ts'
import { Store } from '../domain/goods/stores.ts'
import { Order } from '../domain/orders/orders.ts'
import { Return } from '../domain/orders/returns.ts'
import { RetailTransaction } from '../domain/orders/transactions.ts'
import { RewardAccount } from '../domain/rewards/rewards.ts'
import { ApiError, type Fault } from '../errors.ts'
import type { Api } from '../http/api.ts'
import { seal, unseal, type Walk } from '../http/cursor.ts'
import { paging } from '../http/lists.ts'
import type { Context } from '../http/operation.ts'
import { refuse } from '../refuse.ts'
import { type Change, changesAfter, type Told } from '../store/changes/feed.ts'
import { beginningOf, type Places, read, textOf, toldUpTo, type Written, write } from '../store/changes/places.ts'

const ChangeShape = Type.Object(
  {
    kind: Words('What the record is.', kinds),
    id: Type.String({ description: 'Its identifier, as it shows it.', examples: ['65432'] }),
    action: Words('Whether it has changed, or left the data.', ['changed', 'removed']),
    changedAt: Type.String({
      description: 'When it did: the stamp of its newest change.',
      format: 'date-time',
      examples: ['2026-11-21T09:31:27.803870Z'],
    }),
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
    asOf: Type.String({
      description: 'Up to when everything has been told, of each of the kinds; 1970 where a kind has had nothing yet.',
      format: 'date-time',
      examples: ['2026-11-21T09:31:27.803870Z'],
    }),
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
    ...paging().after_cursor,
    description: 'Where the last answer ended: its `endCursor`, of the same `kinds`. Absent: from the beginning.',
  }),
}

const Query = Type.Object({
  ...following,
  limit: Type.Optional(
    Type.Integer({ description: 'Changes in an answer.', minimum: 1, maximum: 1_000, default: 100, examples: [100] }),
  ),
})

/** Contract 10. */
export function changes(api: Api) {
  api.get(
    '/changes',
    {
      operationId: 'listChanges',
      tag: 'Changes',
      summary: 'Every change of every kind of record, to be followed without a gap.',
      description:
        'A record stands in the feed once, at its newest change; whoever goes on from `endCursor` is told of every record as it is at last, and of every removal. From the beginning the feed is everything as it stands.',
      query: Query,
      answer: ChangePage,
      errors: ['cursor_expired'],
      judge: ({ kinds }) => faultsOfKinds(kinds),
    },
    async ({ db, service, keys, query }) => {
      const { limit = 100, records = false } = query
      const walk = walkOf(service, keys, query)
      const told = await changesAfter(db, service, placesOf(walk, query), { limit, records })
      if (!told) throw new ApiError('cursor_expired')
      return answerOf(walk, told)
    },
  )
}

type Following = Static<typeof Query>

/** The kinds that are followed, in their order. */
const kindsOf = ({ kinds: named }: Following): readonly Kind[] => {
  const words = named?.split(',')
  return words ? kinds.filter(kind => words.includes(kind)) : kinds
}

function faultsOfKinds(named: string | undefined): Fault[] {
  const unknown = (named?.split(',') ?? []).filter(word => !kinds.some(kind => kind === word))
  if (!unknown.length) return []
  const detail = `\`kinds\` are, separated by commas: ${kinds.map(kind => `\`${kind}\``).join(', ')}.`
  return [{ parameter: 'kinds', code: 'invalid_parameter', detail }]
}

/** Cursors go from request to request, and from stream to request, of the same service and kinds. */
const walkOf = (service: Context['service'], { cursors: key }: Context['keys'], query: Following): Walk => ({
  service,
  list: '/changes',
  filters: { kinds: kindsOf(query) },
  key,
})

function placesOf(walk: Walk, query: Following): Places {
  const followed = kindsOf(query)
  if (query.after_cursor === undefined) return beginningOf(followed)
  const written = unseal(walk, query.after_cursor)
  const detail = '`after_cursor` is no cursor of these kinds of changes.'
  if (!written) refuse([{ parameter: 'after_cursor', code: 'invalid_cursor', detail }])
  return read(followed, written as Written)
}

function answerOf(walk: Walk, { changes, hasMore, places }: Told) {
  const meta: Static<typeof Meta> = {
    hasNextPage: hasMore,
    endCursor: seal(walk, write(places)),
    asOf: textOf(Math.max(0, toldUpTo(places))),
    timeZone: walk.service.settings.timeZone,
  }
  return { record: `[${changes.map(item).join(',')}]`, meta }
}

/** A change as it is told. */
function item({ kind, id, action, changedAt, name, record }: Change): string {
  const path = action === 'changed' ? { path: `${pathsOf[kind]}/${encodeURIComponent(name)}` } : {}
  const head = JSON.stringify({ kind, id, action, changedAt, ...path })
  return record === null ? head : `${head.slice(0, -1)},"record":${record}}`
}
