import { RecordsChangedEvent, WebhookTestEvent } from '../../domain/webhooks/webhooks.ts'
import { Type } from '../../schemas/schemas.ts'
import type { Tag } from '../routing/operation.ts'
import type { Writer } from './document-writer.ts'
import { getCodeSamples } from './samples.ts'

const buildDeliveryHeader = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  description,
  required: true,
  schema: { type: 'string' },
  example,
})

const parameters = [
  buildDeliveryHeader(
    'webhook-id',
    'The ID of the delivery. All its attempts have the same ID.',
    'msg_2b7d3c1a8e445b0c3f52',
  ),
  buildDeliveryHeader('webhook-timestamp', 'The time of the attempt in seconds since 1970.', '1795339887'),
  buildDeliveryHeader(
    'webhook-signature',
    'One signature per active secret, separated by spaces: `v1,` and the base64 of the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

const tag: Tag = 'Webhooks'

/** Returns the requests that Tillbridge sends to webhook endpoints. */
export const writeWebhooks = ({ json, hasSamples }: Writer) => ({
  'records.changed': {
    post: {
      operationId: 'receiveChanges',
      tags: [tag],
      summary: 'Receive changes',
      description:
        'Tillbridge sends changes to each endpoint in order, one delivery at a time (Standard Webhooks). Verify the signature, return 2xx within 15 seconds, then process the changes. A failed delivery is retried with the same `webhook-id` and body. A test event has the type `webhook.test` and no changes.',
      security: [],
      parameters,
      requestBody: {
        description: 'The event.',
        required: true,
        content: json(
          Type.Union([RecordsChangedEvent, WebhookTestEvent], {
            $id: 'WebhookEvent',
            description: 'The event. `type` is its kind.',
          }),
        ),
      },
      responses: {
        '2XX': { description: 'The delivery succeeded.' },
        default: { description: 'The delivery failed. Tillbridge retries it. A 410 pauses the webhook.' },
      },
      ...(hasSamples && getCodeSamples('receiveChanges')),
    },
  },
})
