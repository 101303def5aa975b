import { Filter, TimestampParameter } from '../../http/pagination/lists.ts'
import { Type } from '../../schemas/schemas.ts'

export const requestFilters = Type.Object({
  request_id: Filter('Only requests with this `X-Request-Id`.', '3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44', 128),
  idempotency_key: Filter('Only requests with this `Idempotency-Key`.', '6f1e1c62-5f0c-4a3e-9f2b-0c1b7a0e3d55', 255),
  operation: Filter('Only this operation: method and path with parameter names.', 'PUT /customers/:id'),
  path: Filter('Only this path, without a query string.', '/customers/65432', 500),
  record: Filter(
    'Only requests for the record with this path, including the one that created it.',
    '/customers/65432',
    500,
  ),
  status: Type.Optional(
    Type.Integer({
      description: 'Only responses with this status.',
      minimum: 100,
      maximum: 599,
      examples: [409],
    }),
  ),
  failed: Type.Optional(
    Type.Boolean({
      description: 'True: only errors. False: only successful requests.',
      examples: [true],
    }),
  ),
  code: Filter('Only responses with this error code.', 'email_taken', 100),
  account: Filter('Only requests of this account.', 'webshop'),
  answered_after: TimestampParameter('Only requests answered later than this.'),
  answered_before: TimestampParameter('Only requests answered earlier than this.'),
})
