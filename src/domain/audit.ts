import { type Static, Type } from '../schemas/schemas.ts'
import { Id, LocalTime, Nullable, Text } from './values/fields.ts'

/** The account and the request that a write is recorded with. */
export interface Actor {
  username: string
  requestId: string
}

/** An entry of the audit log. It has no values, because they can be personal or secret. */
export type Audit = Static<typeof Audit>
export const Audit = Type.Object(
  {
    id: Id('The ID of the entry.', '0b7c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    at: LocalTime('The time of the write.', '2026-11-21 12:00:00'),
    username: Text('The account of the write.', 'webshop'),
    operation: Text('The operation: method and path with parameter names.', 'PUT /customers/:id'),
    subject: Text('The path of the record.', '/customers/65432'),
    fields: Type.Array(Type.String({ examples: ['contact.email'] }), {
      description: 'The paths of the fields in the body.',
      examples: [['firstname', 'contact.email']],
    }),
    requestId: Text('The request of the write.', '3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44'),
    agent: Nullable(
      Text('The agent that acted for the account, as `X-Agent` named it. Null without one.', 'claude 4.1', 100),
    ),
    apiKey: Nullable(Text('The name of the API key of the write. Null: a password.', 'web-shop', 50)),
  },
  { $id: 'Audit', additionalProperties: false },
)
