import { type Static, Type } from '../schemas/schemas.ts'
import { Id, LocalTime, Text } from './values/fields.ts'

/** The account and the request that a write is recorded with. */
export interface Actor {
  username: string
  requestId: string
}

/** One write as the audit keeps it (contract 1.5 and 9): its values are not kept, they may be personal, or secret. */
export type Audit = Static<typeof Audit>
export const Audit = Type.Object(
  {
    id: Id('The identifier of the line.', '0b7c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    at: LocalTime('When it was written.', '2026-11-21 12:00:00'),
    username: Text('The account that wrote.', 'webshop'),
    operation: Text('What it did: method and path, parameters by their names.', 'PUT /customers/:id'),
    subject: Text('The path of what was written.', '/customers/65432'),
    fields: Type.Array(Type.String({ examples: ['contact.email'] }), {
      description: 'The fields that were given, by their paths.',
      examples: [['firstname', 'contact.email']],
    }),
    requestId: Text('The request that did it.', '3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44'),
  },
  { $id: 'Audit', additionalProperties: false },
)
