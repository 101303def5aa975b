import { Type } from '../schemas/schemas.ts'
import { Audit } from './audit.ts'
import { Flag, Id, Instant, Integer, Nullable, Text } from './values/fields.ts'

const Milliseconds = (description: string, example: number) =>
  Type.Number({ description, minimum: 0, examples: [example] })

const entry = {
  id: Id('The ID of the request (`X-Request-Id`).', '3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44'),
  at: Instant('When the response was sent.', '2026-11-21T09:31:27.803Z'),
  operation: Text('The operation: method and path with parameter names.', 'PUT /customers/:id'),
  path: Text('The path without the query string.', '/customers/65432', 500),
  status: Type.Integer({ description: 'The status of the response.', minimum: 100, maximum: 599, examples: [200] }),
  code: Nullable(Text('The error code. Null if there was no error.', 'email_taken')),
  account: Text('The account of the request.', 'webshop'),
  record: Text(
    'The path of the record. If the request created one, the path of the new record.',
    '/customers/65432',
    500,
  ),
  milliseconds: Milliseconds('The duration in milliseconds.', 12.4),
  hasIdempotencyKey: Flag('True if the request had an `Idempotency-Key`.', false),
}

/** An entry of the request log, without query string and bodies. */
export const RequestLine = Type.Object(entry, { $id: 'Request', additionalProperties: false })

const Step = Type.Object(
  {
    name: Text('`admission` (authentication and limits), or a back-office call by method and endpoint.', 'POST Orders'),
    at: Milliseconds('Milliseconds since the request arrived.', 1.2),
    milliseconds: Milliseconds('The duration in milliseconds.', 180.5),
    outcome: Type.Optional(Text('The status of a call, or its error.', '201')),
  },
  { $id: 'RequestStep', additionalProperties: false },
)

const Mail = Type.Object(
  {
    id: Id('The ID of the email.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    status: Text('The state: `queued`, `sent` or `failed`.', 'sent'),
    attempts: Integer('The number of attempts.', 1, { minimum: 0 }),
    sentAt: Nullable(Instant('When the email was sent.')),
  },
  { $id: 'RequestEmail', additionalProperties: false },
)

const Delivery = Type.Object(
  {
    webhookId: Id('The webhook.', '7f0f2f3e-5f4e-4f3c-9b1a-0d6a4d1c2b3a'),
    deliveryId: Id('The delivery.', 'msg_2b7d3c1a8e445b0c3f52'),
    at: Instant('When the attempt ended.'),
    status: Nullable(Integer('The HTTP status. Null if there was no response.', 204)),
    detail: Nullable(Text('The error. Null if the delivery succeeded.', 'The endpoint returned 500.', 500)),
    milliseconds: Integer('The duration in milliseconds.', 37, { minimum: 0 }),
  },
  { $id: 'RequestDelivery', additionalProperties: false },
)

/** A request with its timeline, audit entries, emails and deliveries. */
export const RequestDetails = Type.Object(
  {
    ...entry,
    statements: Integer('The number of SQL statements.', 4, { minimum: 0 }),
    databaseMilliseconds: Milliseconds('Milliseconds during which at least one of them ran.', 3.1),
    steps: Type.Array(Step, { description: 'Other steps, in the order in which they ended.' }),
    audit: Type.Array(Audit, { description: 'The audit entries of the request.' }),
    emails: Type.Array(Mail, { description: 'The emails of the voucher that the request issued.' }),
    deliveries: Type.Array(Delivery, {
      description: 'If the request changed something: the first delivery attempt of each webhook after it.',
    }),
  },
  { $id: 'RequestDetails', additionalProperties: false },
)
