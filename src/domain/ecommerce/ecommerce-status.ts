import { Type } from '../../schemas/schemas.ts'
import { Count, Flag, Instant, Nullable, OneOf, Text } from '../values/fields.ts'

const locationId = Text('The location.', 'gid://shopify/Location/6884556842')
const holdReason = Text("Why it isn't pushed: such as `unmapped`, or a code of the platform.", 'bundle')

const digest = Text('The digest of all quantities.', '81273645546372819')
/** The newest comparison of our record with the platform. */
const StockReconciliation = Type.Object(
  {
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
  },
  { $id: 'StockReconciliation' },
)

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
    reconciliation: Nullable(StockReconciliation),
  },
  { $id: 'EcommerceStatus' },
)
