import { type Static, Type } from '../../schemas/schemas.ts'
import { Count, Flag, Id, Instant, Nullable, Text, Words } from '../values/fields.ts'

/** What can be mapped. */
export const mappedKinds = ['stores', 'skus', 'customers'] as const
export type MappedKind = (typeof mappedKinds)[number]

/** Which files tell what the e-commerce platform has of each. */
export const listFiles = {
  stores: 'ecommerce-locations',
  skus: 'ecommerce-variants',
  customers: 'ecommerce-customers',
} as const satisfies Record<MappedKind, string>

/** What becomes of a record when it is compared with the e-commerce platform; the last one where nobody knows what that has. */
export const findingStates = ['missing', 'unclaimed', 'twice', 'orphan', 'nearMiss', 'matched', 'unchecked'] as const
export type FindingState = (typeof findingStates)[number]

const kind = Words('What is mapped.', mappedKinds)
const recordId = Id("The back office's identifier of the store, the SKU or the customer.", '12001')

const states = {
  matched: Count('Mapped to one thing that is there.', 1180),
  missing: Count('Not mapped, and nothing there is like it.', 12),
  unclaimed: Count('Things of the e-commerce platform that nothing here is mapped to.', 31),
  twice: Count('Two here are mapped to one there, or what is there exists twice.', 2),
  orphan: Count('Mapped to something that is not there any more.', 4),
  nearMiss: Count('Not mapped to anything there, and something there is almost the same.', 7),
  unchecked: Count('Mapped, while no file has told what is there.', 0),
}

const Progress = Type.Object(
  { done: Count('Looked at until now.', 40_000), of: Count('What there is.', 131_000) },
  {
    $id: 'JudgementProgress',
    additionalProperties: false,
    description: 'How far a judgement has come, in records here and there; null: none is under way.',
  },
)

/** How the mappings of one kind stand. */
export type MappingHealth = Static<typeof MappingHealth>
export const MappingHealth = Type.Object(
  {
    kind,
    judgedAt: Nullable(Instant('When all of them were last judged; null: not yet.', '2026-11-21T09:30:04Z')),
    listedAt: Nullable(
      Instant('When a file of the e-commerce platform last came; null: none has.', '2026-11-21T09:30:04Z'),
    ),
    listed: Count('How much the e-commerce platform has, by that file.', 1210),
    isJudging: Flag('Whether they are being judged, or are about to be.', false),
    progress: Nullable(Progress),
    states: Type.Object(states, { $id: 'FindingCounts', additionalProperties: false }),
  },
  { $id: 'MappingHealth', additionalProperties: false },
)

const near = ['barcode', 'same', 'case', 'blanks', 'leadingZeros', 'form', 'name', 'email'] as const
const reasons = [...near, 'shared', 'double', 'clash'] as const

const Evidence = Type.Object(
  {
    why: Words(
      '`same`, `case`, `blanks`, `leadingZeros` and `form` say in what an identifier there is almost one here, `barcode`, `name` and `email` what is the same there. `shared`: another record here (`id`) is mapped to it; `double`: it exists twice there; `clash`: the two forms of a customer name two.',
      reasons,
    ),
    ecommerceId: Nullable(Text('What it is about, there.', 'mh01-xs-black')),
    id: Nullable(Text('What it is about, here.', '12002')),
  },
  { $id: 'MappingEvidence', additionalProperties: false },
)

/** What the mapping doctor has found of one record. */
export type MappingFinding = Static<typeof MappingFinding>
export const MappingFinding = Type.Object(
  {
    id: Nullable(recordId),
    name: Nullable(Text('What it is, here.', 'MH01 BLK XS', 500)),
    state: Words('How it stands.', findingStates),
    ecommerceId: Nullable(Text('What it is mapped to; where it is `unclaimed`, what it is there.', 'MH01-XS-Black')),
    ecommerceAdminId: Nullable(
      Text('Of a customer: the identifier in its admin form, where that is said.', 'gid://shop/Customer/6477890125896'),
    ),
    suggestion: Nullable(Text('What it probably is there.', 'mh01-xs-black')),
    ecommerceName: Nullable(
      Text(
        'What is suggested, or else what it is mapped to, is called there.',
        'chaz-kangeroo-hoodie: Black / XS',
        1000,
      ),
    ),
    evidence: Type.Array(Evidence, { description: 'Why it is in its state, the best reason first.' }),
    unitsInStock: Nullable(
      Type.Integer({
        description: 'Units in all stores, of a store those of all SKUs; null: it has no stock.',
        examples: [48],
      }),
    ),
    unitsSold: Nullable(
      Type.Number({ description: 'Units that were sold in the last 90 days, less what came back.', examples: [16] }),
    ),
  },
  { $id: 'MappingFinding', additionalProperties: false },
)

export const MappingFixInput = Type.Object(
  {
    kind,
    id: recordId,
    from: Type.Optional(
      Nullable(
        Text(
          'What it is mapped to now, as the finding said (`ecommerceId`; null: nothing). Where it is not any more, nothing is changed. Left out: whatever it is.',
          'MH01-XS-Black',
        ),
      ),
    ),
    to: Nullable(Id('What it is mapped to from now on; null: nothing.', 'mh01-xs-black')),
  },
  { $id: 'MappingFixInput', additionalProperties: false },
)

const Fields = (description: string) =>
  Type.Record(Type.String(), Nullable(Type.String()), { description, examples: [{ ecommerceSku: 'MH01-XS-Black' }] })

/** A mapping that was changed by the doctor. */
export const MappingFix = Type.Object(
  {
    fixId: Id('The identifier of the fix.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    kind,
    id: recordId,
    before: Fields('The mapping as it was.'),
    after: Fields('The mapping as it became.'),
    username: Text('The account that made it.', 'anna'),
    requestId: Text('The request that made it.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
    fixedAt: Instant('When it was made.', '2026-11-21T09:30:04Z'),
    undoneAt: Nullable(Instant('When it was undone; null: it was not.', '2026-11-21T09:30:04Z')),
  },
  { $id: 'MappingFix', additionalProperties: false },
)
