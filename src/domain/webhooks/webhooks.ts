import { type Static, Type } from '../../schemas/schemas.ts'
import { kinds, longestPlace } from '../changes.ts'
import { Flag, Id, Instant, Nullable, Optional, Text, Whole, Words } from '../values/fields.ts'

/** What an endpoint is at: told, told although it takes nothing, or told nothing until it is resumed. */
const webhookStates = ['active', 'failing', 'paused'] as const
export type WebhookState = (typeof webhookStates)[number]

const id = Id('The identifier of the webhook.', '7f0f2f3e-5f4e-4f3c-9b1a-0d6a4d1c2b3a')
const url = Text(
  'Where deliveries are posted to: `https`, a host whose addresses are public, no username and no password.',
  'https://shop.example/hooks',
  2_000,
)
const followed = Type.Array(Words('A kind of record.', kinds), {
  description: 'The kinds of records that it is told of.',
  minItems: 1,
  uniqueItems: true,
  examples: [['customer', 'inventory']],
})
const description = Text('What it is for.', 'The search index', 250)

const webhook = {
  id,
  url,
  kinds: followed,
  description: Nullable(description),
  state: Words(
    '`failing`: it has taken nothing for an hour, and is tried on. `paused`: nothing is sent until it is resumed.',
    webhookStates,
  ),
  stateReason: Nullable(Text('Why it is failing or paused.', 'The endpoint answered 410.', 500)),
  cursor: Text(
    'Where it stands: what `GET /changes` with the same `kinds` takes as `after_cursor`.',
    'mM3Zr0ZbXq0c5nYl2V7f1lsxNzk1MzM3NDg3ODAzODcwXQ',
    longestPlace,
  ),
  behind: Type.Object(
    {
      since: Nullable(Instant('Since when there has been something to tell. Null: it has been told everything.')),
      seconds: Whole('How long that is.', 0, { minimum: 0 }),
    },
    { description: 'Whether something waits to be told.', additionalProperties: false },
  ),
  lastSuccessAt: Nullable(Instant('When it last took a delivery.')),
  lastFailure: Nullable(
    Type.Object(
      {
        at: Instant('When it was.'),
        status: Nullable(Whole('What it answered; null where it did not.', 500)),
        detail: Text('What went wrong.', 'The endpoint answered 500.', 500),
      },
      { additionalProperties: false },
    ),
  ),
  createdAt: Instant('When it was made.'),
}

/** An endpoint that is told of changes (contract 11). */
export type Webhook = Static<typeof Webhook>
export const Webhook = Type.Object(webhook, { $id: 'Webhook', additionalProperties: false })

/** The same with a secret that was just made: the only answer that shows it. */
export const IssuedWebhook = Type.Object(
  {
    ...webhook,
    secret: Text(
      'What deliveries are signed with, as Standard Webhooks has it; shown this once.',
      'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDZ3bpHRDhg0k=',
      100,
    ),
  },
  { $id: 'IssuedWebhook', additionalProperties: false },
)

export const WebhookInput = Type.Object(
  {
    url,
    kinds: Type.Optional({ ...followed, description: 'The kinds of records that it is told of. Left out: all.' }),
    description: Optional(description),
    fromBeginning: Type.Optional(
      Flag('Whether it is first told of everything as it stands. Without it: of what changes from now on.', false),
    ),
  },
  { $id: 'WebhookInput', additionalProperties: false },
)

export const WebhookChange = Type.Object(
  { url: Type.Optional(url), kinds: Type.Optional(followed), description: Optional(description) },
  { $id: 'WebhookChange', additionalProperties: false },
)

export const Rewind = Type.Object(
  {
    to: Text(
      'From where it is told again: `beginning`, a time, or a cursor of `GET /changes` with the same `kinds`.',
      '2026-11-21T09:31:27Z',
      longestPlace,
    ),
  },
  { $id: 'Rewind', additionalProperties: false },
)

export const RemovedWebhook = Type.Object({ id }, { $id: 'RemovedWebhook', additionalProperties: false })

/** What became of one attempt at a delivery. */
export type WebhookAttempt = Static<typeof WebhookAttempt>
export const WebhookAttempt = Type.Object(
  {
    id: Id('The identifier of the attempt.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    deliveryId: Id('The delivery: its `webhook-id`, which all its attempts share.', 'msg_2b7d3c1a8e445b0c3f52'),
    at: Instant('When it ended.'),
    changes: Whole('How many changes the delivery tells of; none where it is a test.', 12, { minimum: 0 }),
    status: Nullable(Whole('What the endpoint answered; null where it did not.', 204)),
    detail: Nullable(Text('Why it failed; null where the delivery was taken.', 'The endpoint answered 500.', 500)),
    answer: Text('The beginning of what the endpoint answered: at most 1 KiB.', 'ok', 1_024),
    milliseconds: Whole('How long it took.', 37, { minimum: 0 }),
  },
  { $id: 'WebhookAttempt', additionalProperties: false },
)
