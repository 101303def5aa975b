import { type Static, Type } from '../../schemas/schemas.ts'
import { Count, Flag, Id, Instant, Nullable, OneOf, Text } from '../values/fields.ts'

export const mappedKinds = ['stores', 'skus', 'customers'] as const
export type MappedKind = (typeof mappedKinds)[number]

/** The import type of the platform file for each kind. */
export const platformImportTypes = {
  stores: 'ecommerce-locations',
  skus: 'ecommerce-variants',
  customers: 'ecommerce-customers',
} as const satisfies Record<MappedKind, string>

/** The states of a record or platform item after a mapping check. */
export const issueStates = [
  'unmapped',
  'platformOnly',
  'duplicate',
  'orphaned',
  'nearMatch',
  'matched',
  'unverified',
] as const
export type IssueState = (typeof issueStates)[number]

const kind = OneOf('The kind of mapping.', mappedKinds)
const recordId = Id("The back office's ID of the store, SKU or customer.", '12001')

const states = {
  matched: Count('Mapped to exactly one platform item.', 1180),
  unmapped: Count('Not mapped, and no platform item is similar.', 12),
  platformOnly: Count('Platform items that no record is mapped to.', 31),
  duplicate: Count(
    "Two records share a platform item, the platform has it twice, or a customer's two identifiers name different items.",
    2,
  ),
  orphaned: Count('Mapped to a platform item that no longer exists.', 4),
  nearMatch: Count('Not mapped to an existing item, but a similar item exists that no record is mapped to.', 7),
  unverified: Count('Mapped, but no platform file has been imported.', 0),
}

const Progress = Type.Object(
  {
    done: Count('Records and platform items checked so far.', 40_000),
    total: Count('Records and platform items to check.', 131_000),
  },
  {
    $id: 'MappingCheckProgress',
    additionalProperties: false,
    description: 'The progress of a running check. Null if none is running.',
  },
)

/** The result of the last mapping check for one kind. */
export type MappingStatus = Static<typeof MappingStatus>
export const MappingStatus = Type.Object(
  {
    kind,
    checkedAt: Nullable(Instant('When the last complete check ended. Null if none has.', '2026-11-21T09:30:04Z')),
    listedAt: Nullable(Instant('When a platform file was last imported. Null if none was.', '2026-11-21T09:30:04Z')),
    listed: Count('The number of platform items in that file.', 1210),
    isRunning: Flag('True if a check is running or due.', false),
    progress: Nullable(Progress),
    states: Type.Object(states, { $id: 'MappingIssueCounts', additionalProperties: false }),
  },
  { $id: 'MappingStatus', additionalProperties: false },
)

const nearReasons = ['barcode', 'same', 'case', 'whitespace', 'leadingZeros', 'form', 'name', 'email'] as const
const reasons = [...nearReasons, 'shared', 'double', 'clash'] as const

/** Reasons that identify an item: a suggestion with one of them, and no other candidate, is sure. Two stores can have the same name. */
export const sureReasons = nearReasons.filter(reason => reason !== 'name')

const Evidence = Type.Object(
  {
    reason: OneOf(
      'The identifiers are the `same`, or differ in `case`, `whitespace`, `leadingZeros` or `form`; or the `barcode`, `name` or `email` is the same. `shared`: another record (`id`) is mapped to this item. `double`: the platform has the item twice. `clash`: the two identifiers of a customer name different items.',
      reasons,
    ),
    ecommerceId: Nullable(Text('The platform item.', 'mh01-xs-black')),
    id: Nullable(Text('The other record.', '12002')),
  },
  { $id: 'MappingEvidence', additionalProperties: false },
)

/** A record or platform item with the result of the mapping check. */
export type MappingIssue = Static<typeof MappingIssue>
export const MappingIssue = Type.Object(
  {
    id: Nullable(recordId),
    name: Nullable(Text('The name of the record.', 'MH01 BLK XS', 500)),
    state: OneOf('The state of the mapping.', issueStates),
    ecommerceId: Nullable(
      Text(
        'The platform item that the record is mapped to. If the state is `platformOnly`: the platform item itself.',
        'MH01-XS-Black',
      ),
    ),
    ecommerceAdminId: Nullable(
      Text('Customers only: the mapped identifier in its admin form, if any.', 'gid://shop/Customer/6477890125896'),
    ),
    suggestion: Nullable(Text('The platform item that probably matches.', 'mh01-xs-black')),
    ecommerceName: Nullable(
      Text(
        'The platform name of the suggestion, otherwise of the mapped item.',
        'chaz-kangeroo-hoodie: Black / XS',
        1000,
      ),
    ),
    evidence: Type.Array(Evidence, { description: 'The reasons for the state, best first.' }),
    unitsInStock: Nullable(
      Type.Integer({
        description:
          'Units in stock: of a SKU in all stores, of a store for all SKUs. Null if the record has no stock.',
        examples: [48],
      }),
    ),
    unitsSold: Nullable(Type.Number({ description: 'Units sold in the last 90 days, minus returns.', examples: [16] })),
  },
  { $id: 'MappingIssue', additionalProperties: false },
)

export const MappingFixInput = Type.Object(
  {
    kind,
    id: recordId,
    from: Type.Optional(
      Nullable(
        Text(
          'The current mapping, as `ecommerceId` of the issue (null: unmapped). If the record is mapped differently, the fix is rejected. Without it, any current mapping is replaced.',
          'MH01-XS-Black',
        ),
      ),
    ),
    to: Nullable(Id('The platform item to map the record to. Null unmaps it.', 'mh01-xs-black')),
  },
  { $id: 'MappingFixInput', additionalProperties: false },
)

const Fields = (description: string) =>
  Type.Record(Type.String(), Nullable(Type.String()), { description, examples: [{ ecommerceSku: 'MH01-XS-Black' }] })

/** A mapping that was changed by a fix. */
export const MappingFix = Type.Object(
  {
    id: Id('The ID of the fix.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    kind,
    recordId,
    before: Fields('The mapping before the fix.'),
    after: Fields('The mapping after the fix.'),
    username: Text('The account that made the fix.', 'anna'),
    requestId: Text('The request that made the fix.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
    fixedAt: Instant('When the fix was made.', '2026-11-21T09:30:04Z'),
    undoneAt: Nullable(Instant('When the fix was undone. Null if it was not.', '2026-11-21T09:30:04Z')),
  },
  { $id: 'MappingFix', additionalProperties: false },
)
