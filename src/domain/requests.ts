import { Type } from '../schemas/schemas.ts'
import { Audit } from './audit.ts'
import { Flag, Id, Instant, Nullable, Text, Whole } from './values/fields.ts'

const Milliseconds = (description: string, example: number) =>
  Type.Number({ description, minimum: 0, examples: [example] })

const line = {
  id: Id('The identifier of the request: its `X-Request-Id`.', '3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44'),
  at: Instant('When it was answered.', '2026-11-21T09:31:27.803Z'),
  operation: Text('What was asked: method and path, parameters by their names.', 'PUT /customers/:id'),
  path: Text('The path, without its query.', '/customers/65432', 500),
  status: Type.Integer({ description: 'The status of the answer.', minimum: 100, maximum: 599, examples: [200] }),
  code: Nullable(Text('The error that it was answered with; null: it was none.', 'email_taken')),
  account: Text('The account that asked.', 'webshop'),
  record: Text('The path of what it was about: of what was made, where something was.', '/customers/65432', 500),
  milliseconds: Milliseconds('How long it took.', 12.4),
  keyed: Flag('Whether it came with an `Idempotency-Key`.', false),
}

/** A request that was answered, as the log of requests has it: nothing of its query or bodies. */
export const RequestLine = Type.Object(line, { $id: 'Request', additionalProperties: false })

const Step = Type.Object(
  {
    what: Text('What it was: `gate`, or a call of the back office by its method and endpoint.', 'POST Orders'),
    at: Milliseconds('Milliseconds since the request came.', 1.2),
    milliseconds: Milliseconds('How long it took.', 180.5),
    outcome: Type.Optional(Text('What a call came to: its status, or what went wrong.', '201')),
  },
  { $id: 'RequestStep', additionalProperties: false },
)

const Mail = Type.Object(
  {
    id: Id('The identifier of the e-mail.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    status: Text('How far it has come: `queued`, `sent` or `failed`.', 'sent'),
    attempts: Whole('How often it was tried.', 1, { minimum: 0 }),
    sentAt: Nullable(Instant('When it was sent.')),
  },
  { $id: 'RequestMail', additionalProperties: false },
)

const Delivery = Type.Object(
  {
    webhookId: Id('The webhook.', '7f0f2f3e-5f4e-4f3c-9b1a-0d6a4d1c2b3a'),
    deliveryId: Id('The delivery.', 'msg_2b7d3c1a8e445b0c3f52'),
    at: Instant('When the attempt ended.'),
    status: Nullable(Whole('What the endpoint answered; null where it did not.', 204)),
    detail: Nullable(Text('Why it failed; null where it was taken.', 'The endpoint answered 500.', 500)),
    milliseconds: Whole('How long it took.', 37, { minimum: 0 }),
  },
  { $id: 'RequestDelivery', additionalProperties: false },
)

/** A request with its time line, and what it left behind. */
export const RequestDetails = Type.Object(
  {
    ...line,
    statements: Whole('How many statements it asked of the database.', 4, { minimum: 0 }),
    databaseMilliseconds: Milliseconds(
      'How long it waited for them; those that were under way together, each for itself.',
      3.1,
    ),
    steps: Type.Array(Step, { description: 'What else it took time for, in the order in which it ended.' }),
    audit: Type.Array(Audit, { description: 'What it wrote, as the audit has it.' }),
    mails: Type.Array(Mail, { description: 'E-mails of the voucher that it made.' }),
    deliveries: Type.Array(Delivery, {
      description: 'Where it wrote something: the first attempt of each webhook since then.',
    }),
  },
  { $id: 'RequestDetails', additionalProperties: false },
)
