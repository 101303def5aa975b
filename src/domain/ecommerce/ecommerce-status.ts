import { Type } from '../../schemas/schemas.ts'
import { Count, Flag, Id, Instant, Integer, Nullable, OneOf, Text } from '../values/fields.ts'

const itemId = Text('The inventory item.', 'gid://shopify/InventoryItem/43729076')
const locationId = Text('The location.', 'gid://shopify/Location/6884556842')
const holdReason = Text("Why it isn't pushed: such as `unmapped`, or a code of the platform.", 'bundle')
const units = (description: string) => Integer(description, 7)
const known = Nullable(units('The on-hand quantity of our record. Null: not stocked there.'))

export const levelStates = ['due', 'held', 'inFlight', 'inStep'] as const

/** The connection of a service to its platform, and the state of the stock push. */
export const EcommerceStatus = Type.Object(
  {
    url: Text('The shop.', 'https://luma-au.myshopify.com'),
    apiVersion: Text('The API version.', '2026-07'),
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
  },
  { $id: 'EcommerceStatus' },
)

/** The stock of an item at a location of the platform. */
export const EcommerceLevel = Type.Object(
  {
    itemId,
    locationId,
    sku: Nullable(Id('Its SKU.', 'MH01-XS-Black')),
    state: OneOf('The state.', levelStates),
    knownOnHand: known,
    desiredOnHand: units('The sum of the next three.'),
    sellable: units("Units that the location's stores can sell."),
    netted: units('Units of platform orders that our stock no longer contains.'),
    heldBack: units("Units that the platform doesn't sell."),
    holdReason: Nullable(holdReason),
  },
  { $id: 'EcommerceLevel' },
)

const digest = Text('The digest of all quantities.', '81273645546372819')
/** A comparison of our record with the platform. */
export const StockReconciliation = Type.Object(
  {
    id: Id('Its ID.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
    state: OneOf('The state.', ['queued', 'running', 'completed', 'failed']),
    isDryRun: Flag('True if nothing is corrected.', false),
    startedAt: Instant('When it started or was queued.'),
    endedAt: Nullable(Instant('When it ended.')),
    error: Nullable(Text('Why it failed.', 'The bulk operation ended as FAILED.', 500)),
    compared: Count('Compared levels.', 60_000),
    drifted: Count('Levels that others have changed.', 0),
    digests: Type.Array(Type.Object({ locationId, known: digest, observed: digest }, { $id: 'StockDigest' }), {
      description: 'Both sides by location, before the correction. Equal digests mean equal quantities.',
    }),
    drift: Type.Array(
      Type.Object(
        { itemId, locationId, knownOnHand: known, observedOnHand: Nullable(units('The quantity on the platform.')) },
        { $id: 'StockDrift' },
      ),
      { description: 'Up to a hundred of the changed levels.' },
    ),
  },
  { $id: 'StockReconciliation' },
)
