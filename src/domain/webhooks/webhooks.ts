import { type Static, Type } from '../../schemas/schemas.ts'
import { changeFields, changeKinds, maxCursorLength } from '../changes.ts'
import { Flag, Id, Instant, Integer, Nullable, OneOf, Optional, Text } from '../values/fields.ts'

/** `failing` endpoints are still tried. `paused` ones are not, until they are resumed. */
const webhookStates = ['active', 'failing', 'paused'] as const
export type WebhookState = (typeof webhookStates)[number]

const id = Id('The ID of the webhook.', '7f0f2f3e-5f4e-4f3c-9b1a-0d6a4d1c2b3a')
const url = Text('The URL that deliveries are sent to.', 'https://shop.example/hooks', 2_000)
const urlInput = {
  ...url,
  description:
    'The URL that deliveries are sent to: `https`, a host with public addresses only, without a username or password.',
}
const subscribedKinds = Type.Array(OneOf('A kind of record.', changeKinds), {
  description: 'The kinds of records whose changes are delivered.',
  minItems: 1,
  uniqueItems: true,
  examples: [['customer', 'inventory']],
})
const description = Text('A description for your own use.', 'The search index', 250)

const webhook = {
  id,
  url,
  kinds: subscribedKinds,
  description: Nullable(description),
  state: OneOf(
    '`failing`: no delivery has succeeded for an hour; retries continue. `paused`: nothing is sent until the webhook is resumed.',
    webhookStates,
  ),
  stateReason: Nullable(Text('Why the webhook is failing or paused.', 'The endpoint returned 410.', 500)),
  cursor: Text(
    'The position in the change feed: the `after_cursor` of `GET /changes` with the same `kinds`.',
    'mM3Zr0ZbXq0c5nYl2V7f1lsxNzk1MzM3NDg3ODAzODcwXQ',
    maxCursorLength,
  ),
  lag: Type.Object(
    {
      pendingSince: Nullable(Instant('Since when changes are pending. Null if the endpoint is up to date.')),
      seconds: Integer('The same in seconds.', 0, { minimum: 0 }),
    },
    { description: 'How far the endpoint is behind the change feed.', additionalProperties: false },
  ),
  lastSuccessAt: Nullable(Instant('When a delivery last succeeded.')),
  lastFailure: Nullable(
    Type.Object(
      {
        at: Instant('When the delivery failed.'),
        status: Nullable(Integer('The HTTP status. Null if there was no response.', 500)),
        detail: Text('The error.', 'The endpoint returned 500.', 500),
      },
      { additionalProperties: false },
    ),
  ),
  createdAt: Instant('When the webhook was created.'),
}

/** An endpoint that receives change notifications. */
export type Webhook = Static<typeof Webhook>
export const Webhook = Type.Object(webhook, { $id: 'Webhook', additionalProperties: false })

/** A webhook with a new secret. No other response contains the secret. */
export const IssuedWebhook = Type.Object(
  {
    ...webhook,
    secret: Text(
      'The signing secret (Standard Webhooks). It is shown only once.',
      'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDZ3bpHRDhg0k=',
      100,
    ),
  },
  { $id: 'IssuedWebhook', additionalProperties: false },
)

export const WebhookInput = Type.Object(
  {
    url: urlInput,
    kinds: Type.Optional({
      ...subscribedKinds,
      description: 'The kinds of records whose changes are delivered. Default: all.',
    }),
    description: Optional(description),
    fromBeginning: Type.Optional(
      Flag('True to send all existing records first. Default: only changes from now on.', false),
    ),
  },
  { $id: 'WebhookInput', additionalProperties: false },
)

export const WebhookChange = Type.Object(
  { url: Type.Optional(urlInput), kinds: Type.Optional(subscribedKinds), description: Optional(description) },
  { $id: 'WebhookChange', additionalProperties: false },
)

export const Rewind = Type.Object(
  {
    to: Text(
      'The start of the replay: `beginning`, a time, or a cursor of `GET /changes` with the same `kinds`.',
      '2026-11-21T09:31:27Z',
      maxCursorLength,
    ),
  },
  { $id: 'Rewind', additionalProperties: false },
)

export const RemovedWebhook = Type.Object({ id }, { $id: 'RemovedWebhook', additionalProperties: false })

/** An attempt to send a delivery. */
export type WebhookAttempt = Static<typeof WebhookAttempt>
export const WebhookAttempt = Type.Object(
  {
    id: Id('The ID of the attempt.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    deliveryId: Id('The ID of the delivery (`webhook-id`), which all its attempts share.', 'msg_2b7d3c1a8e445b0c3f52'),
    at: Instant('When the attempt ended.'),
    changes: Integer('The number of changes in the delivery. 0 for a test.', 12, { minimum: 0 }),
    status: Nullable(Integer('The HTTP status. Null if there was no response.', 204)),
    detail: Nullable(Text('The error. Null if the delivery succeeded.', 'The endpoint returned 500.', 500)),
    response: Text('The beginning of the response, at most 1 KiB.', 'ok', 1_024),
    milliseconds: Integer('The duration in milliseconds.', 37, { minimum: 0 }),
  },
  { $id: 'WebhookAttempt', additionalProperties: false },
)

const sentAt = Instant('The time at which the body was built.', '2026-11-21T09:31:28.120Z')
const service = Text('The name of the service.', 'luma', 250)

/** The body of a delivery. */
export const RecordsChangedEvent = Type.Object(
  {
    type: OneOf('The type of the event.', ['records.changed']),
    timestamp: sentAt,
    data: Type.Object(
      {
        service,
        cursor: Text(
          'The position after these changes: the `after_cursor` of `GET /changes` with the same `kinds`.',
          'mM3Zr0ZbXq0c5nYl2V7f1lsxNzk1MzM3NDg3ODAzODcwXQ',
          maxCursorLength,
        ),
        changes: Type.Array(Type.Object(changeFields, { $id: 'DeliveredChange', additionalProperties: false }), {
          description: 'At most 100 changes, in order.',
        }),
      },
      { additionalProperties: false },
    ),
  },
  { $id: 'RecordsChangedEvent', description: 'Changes of records.', additionalProperties: false },
)

/** The body of a test delivery. */
export const WebhookTestEvent = Type.Object(
  {
    type: OneOf('The type of the event.', ['webhook.test']),
    timestamp: sentAt,
    data: Type.Object({ service }, { additionalProperties: false }),
  },
  { $id: 'WebhookTestEvent', description: 'A test event.', additionalProperties: false },
)
