import { Type } from '../../schemas/schemas.ts'
import { Count, Flag, Id, Instant, Nullable, OneOf, Text } from '../values/fields.ts'
import { platformNames } from './connection-settings.ts'

const locationId = Type.String({ $id: 'PlatformLocationId', examples: ['gid://shopify/Location/6884556842'] })
const holdReason = Text("Why it isn't pushed: such as `unmapped`, or a code of the platform.", 'bundle')

export const levelStates = ['due', 'inFlight', 'held', 'inStep'] as const
export type LevelState = (typeof levelStates)[number]

const digest = Text('The digest of all quantities.', '81273645546372819')
const itemId = Type.String({ $id: 'PlatformItemId', examples: ['gid://shopify/InventoryItem/43729076'] })
const sku = Nullable(Text("The variant's SKU.", 'CREW-BLK-M'))
const knownOnHand = Nullable(Count('On hand by our record. Null: not stocked there.', 12))
const desiredOnHand = Count('On hand as it must be.', 10)

/** A comparison of our record with the platform. */
export const StockReconciliation = Type.Object(
  {
    id: Id('Its ID.', '019a1f0e-7c11-7b6e-9d0f-2b7d3c1a8e44'),
    state: OneOf('The state.', ['queued', 'running', 'completed', 'failed']),
    isDryRun: Flag('True if nothing is corrected.', false),
    isPartial: Flag('True if it compared only levels that events had named.', false),
    startedAt: Instant('When it started or was queued.'),
    endedAt: Nullable(Instant('When it ended.')),
    error: Nullable(Text('Why it failed.', 'The bulk operation ended as FAILED.', 500)),
    compared: Count('Compared levels.', 60_000),
    drifted: Count('Levels that others have changed.', 0),
    rising: Count('Levels that the push raises.', 20),
    falling: Count('Levels that it lowers.', 12),
    fallingToZero: Count('Levels that it sets to 0.', 3),
    digests: Type.Array(Type.Object({ locationId, known: digest, observed: digest }, { $id: 'StockDigest' }), {
      description: 'Both sides by location, before the correction. Equal digests mean equal quantities.',
    }),
    differences: Type.Array(
      Type.Object({ sku, itemId, locationId, knownOnHand, desiredOnHand }, { $id: 'StockDifference' }),
      { description: 'The hundred largest.' },
    ),
  },
  { $id: 'StockReconciliation' },
)

/** The stock of one item at one location of the platform. */
export const PlatformLevel = Type.Object(
  {
    itemId,
    locationId,
    sku,
    state: OneOf('The state.', levelStates),
    reason: Nullable(holdReason),
    knownOnHand,
    desiredOnHand,
    sellable: Count('Sellable units, part of `desiredOnHand` like the next two.', 8),
    netted: Count('Units of open platform orders that `sellable` no longer contains.', 2),
    heldBack: Count("Units that the shop doesn't sell.", 0),
    observedOnHand: Nullable(Count('On hand, as last read.', 12)),
    observedCommitted: Nullable(Count('Units of open orders, as last read.', 2)),
    observedAt: Nullable(Instant('When it was last read.')),
    dueSince: Nullable(Instant('Since when it waits.')),
  },
  { $id: 'PlatformLevel' },
)

/** A level that others have changed on the platform. */
export const StockDrift = Type.Object(
  {
    itemId,
    locationId,
    sku,
    knownOnHand,
    observedOnHand: Nullable(Count('On hand, as read.', 9)),
    changedBy: Nullable(Text('The app or staff member that changed it, if the platform names it.', 'Stocktake app')),
  },
  { $id: 'StockDrift' },
)

/** The connection of a service to its platform, and the state of the stock push. */
export const EcommerceStatus = Type.Object(
  {
    url: Text('The shop.', 'https://luma-au.myshopify.com'),
    driver: OneOf('The platform.', platformNames),
    apiVersion: Nullable(Text('Its API version, if it has any.', '2026-07')),
    stockPush: OneOf('The setting.', ['off', 'dryRun', 'on']),
    isStopped: Flag('True while the safety stop waits for a person.', false),
    due: Count('Levels to push.', 0),
    held: Type.Array(Type.Object({ reason: holdReason, levels: Count('Their number.', 12) }, { $id: 'HeldLevels' }), {
      description: 'Held levels.',
    }),
    inFlight: Count('Levels being sent.', 0),
    inStep: Count('Levels up to date.', 60_000),
    lagSeconds: Count('The age of the oldest due level.', 1),
    openCommitments: Count('Open lines of platform orders.', 3),
    points: Nullable(
      Type.Object(
        {
          capacity: Count('The most.', 2_000),
          restorePerSecond: Count('Restored points.', 100),
          orders: Count('Left.', 800),
          stock: Count('Left.', 900),
          background: Count('Left.', 300),
        },
        { $id: 'PlatformPoints', description: 'The rate limit, if there is any.' },
      ),
    ),
    subscriptions: Nullable(
      Type.Object(
        {
          wanted: Count('Topics.', 18),
          missing: Type.Array(Type.String({ examples: ['CUSTOMERS_MERGE'] }), {
            description: "Topics that aren't sent.",
          }),
          checkedAt: Instant('The last check.'),
        },
        { $id: 'EventSubscriptions', description: 'Null without events.' },
      ),
    ),
    reconciliation: Nullable(StockReconciliation),
  },
  { $id: 'EcommerceStatus' },
)
