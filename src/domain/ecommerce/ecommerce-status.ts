import { type Static, Type } from '../../schemas/schemas.ts'
import { Count, Flag, Id, Instant, Integer, Nullable, OneOf, Text } from '../values/fields.ts'

const itemId = Text("The platform's ID of the inventory item.", 'gid://shopify/InventoryItem/43729076')
const locationId = Text("The platform's ID of the location.", 'gid://shopify/Location/6884556842')
const holdReason = Text("Why the level isn't pushed: such as `unmapped`, or a code of the platform.", 'bundle')
const quantity = (description: string) => Integer(description, 7)

const count = (description: string) => Type.Optional(Count(description, 7))
export const levelStates = ['due', 'held', 'inFlight', 'inStep'] as const

/** The connection of a service to its platform, and the state of the stock push. */
export type EcommerceStatus = Static<typeof EcommerceStatus>
export const EcommerceStatus = Type.Object(
  {
    driver: Text('The platform.', 'shopify'),
    url: Text('The address of the shop.', 'https://luma-au.myshopify.com'),
    apiVersion: Text('The API version.', '2026-07'),
    stockPush: OneOf('The setting `stockPush`.', ['off', 'dryRun', 'on']),
    isStopped: Flag('True while the safety stop waits for a person.', false),
    levels: Type.Object(Object.fromEntries(levelStates.map(state => [state, Count('The number of levels.', 7)])), {
      $id: 'LevelCounts',
      description: 'Levels of stock by state.',
    }),
    heldBy: Type.Record(Type.String(), Type.Integer(), { description: 'Held levels by reason.' }),
    lagSeconds: Count('Seconds for which the oldest level has been due.', 1),
    openCommitments: Count('Lines of platform orders with committed units.', 3),
    points: Nullable(
      Type.Object(
        {
          capacity: Count('The maximum of all classes.', 2_000),
          restorePerSecond: Count('Points that are restored per second.', 100),
          orders: Count('Points for orders.', 800),
          stock: Count('Points for the stock push.', 880),
          background: Count('Points for syncs and comparisons.', 300),
        },
        { $id: 'RateLimitPoints', description: "The platform's rate limit. Null before the first call." },
      ),
    ),
  },
  { $id: 'EcommerceStatus' },
)

/** The stock of an item at a location of the platform. */
export const EcommerceLevel = Type.Object(
  {
    itemId,
    locationId,
    sku: Nullable(Id('The SKU on the platform.', 'MH01-XS-Black')),
    state: OneOf('The state of the level.', levelStates),
    knownOnHand: Nullable(quantity('The on-hand quantity of our record. Null: not stocked there.')),
    observedOnHand: Nullable(quantity('The on-hand quantity as last read.')),
    desiredOnHand: quantity('The quantity that the platform should have: the sum of the next three.'),
    sellable: quantity("Units that the location's stores can sell."),
    netted: quantity('Units of platform orders that our stock no longer contains.'),
    heldBack: quantity("Units on hand that the platform doesn't sell."),
    holdReason: Nullable(holdReason),
    dueAt: Nullable(Instant('Since when the level may differ.')),
  },
  { $id: 'EcommerceLevel' },
)

const side = Text('The digest of item and quantity of all levels.', '81273645546372819')
/** A comparison of our record with the platform. */
export const EcommerceReconciliation = Type.Object(
  {
    id: Id('The ID of the reconciliation.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
    state: OneOf('The state.', ['queued', 'running', 'completed', 'failed']),
    isDryRun: Flag('True if nothing is set on the platform.', false),
    startedAt: Instant('When it started or was queued.'),
    endedAt: Nullable(Instant('When it ended.')),
    error: Nullable(Text('Why it failed.', 'The bulk operation ended as FAILED.', 500)),
    counts: Type.Object(
      {
        compared: count('Levels that were compared.'),
        drifted: count('Levels that others have changed.'),
        skipped: count('Levels that changed during the comparison.'),
        added: count('Levels that are new on the platform.'),
        inStep: count('Levels with the desired quantity.'),
        rising: count('Levels that rise.'),
        falling: count('Levels that fall.'),
        fallingToZero: count('Levels that fall to zero.'),
        held: count("Levels that aren't pushed."),
      },
      { $id: 'ReconciliationCounts', description: 'Levels by result. Empty until it ends.' },
    ),
    digests: Type.Array(
      Type.Object(
        { locationId, levels: Count('Compared levels.', 60_000), known: side, observed: side },
        { $id: 'LocationDigest' },
      ),
      { description: 'Both sides by location, before the correction. Equal digests mean equal quantities.' },
    ),
    differences: Type.Array(
      Type.Object(
        {
          itemId,
          locationId,
          sku: Nullable(Id('The SKU on the platform.', 'MH01-XS-Black')),
          knownOnHand: Nullable(quantity('The quantity of our record.')),
          desiredOnHand: quantity('The desired quantity.'),
        },
        { $id: 'StockDifference' },
      ),
      { description: 'The hundred largest differences to the desired quantity.' },
    ),
    drift: Type.Array(
      Type.Object(
        {
          itemId,
          locationId,
          knownOnHand: Nullable(quantity('The quantity that Tillbridge had set or read.')),
          observedOnHand: Nullable(quantity('The quantity on the platform.')),
          changedBy: Nullable(Text('The app or person that changed it, if the platform reports it.', 'admin')),
        },
        { $id: 'StockDrift' },
      ),
      { description: 'Up to a hundred levels that others have changed.' },
    ),
  },
  { $id: 'EcommerceReconciliation' },
)
