import { RequestDetails, RequestLine } from '../domain/requests.ts'
import { hashLoggedKey } from '../http/observability/request-log.ts'
import { Filter, findInvertedRange, TimestampParameter } from '../http/pagination/lists.ts'
import { get, list } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { requestPage, requestRecord } from '../store/request-log/requests.ts'

const [tag, role] = ['Requests', 'admin'] as const

/** What was asked of the service, by whom, and what became of it. */
export const requests = [
  list(
    '/requests',
    {
      operationId: 'listRequests',
      tag,
      role,
      summary: 'Search the request log',
      description:
        'For as many days as the setting `requestLogRetentionDays` says, a second or two late; searched over all of them. Neither queries nor bodies are kept. Filters go together.',
      query: Type.Object({
        request_id: Filter('Only those with this `X-Request-Id`.', '3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44', 128),
        idempotency_key: Filter(
          'Only those that came with this `Idempotency-Key`.',
          '6f1e1c62-5f0c-4a3e-9f2b-0c1b7a0e3d55',
          255,
        ),
        operation: Filter(
          'Only those of this operation: method and path, parameters by their names.',
          'PUT /customers/:id',
        ),
        path: Filter('Only those of this path, without a query.', '/customers/65432', 500),
        record: Filter('Only those about the record at this path, also those that made it.', '/customers/65432', 500),
        status: Type.Optional(
          Type.Integer({ description: 'Only those with this status.', minimum: 100, maximum: 599, examples: [409] }),
        ),
        failed: Type.Optional(
          Type.Boolean({
            description: 'Only those that were answered with an error, or only the others.',
            examples: [true],
          }),
        ),
        code: Filter('Only those with this error.', 'email_taken', 100),
        account: Filter('Only those of this account.', 'webshop'),
        answered_after: TimestampParameter('Only those that were answered later than this.'),
        answered_before: TimestampParameter('Only those that were answered earlier than this.'),
      }),
      judge: query => findInvertedRange('answered', query.answered_after, query.answered_before),
      item: RequestLine,
      errors: ['date_range_inverted'],
    },
    ({ db, service, keys, query: { idempotency_key: key, ...search } }, asked) =>
      requestPage(db, service, search, key === undefined ? undefined : hashLoggedKey(keys, service.id, key), asked),
  ),

  get(
    '/requests/:id',
    {
      operationId: 'getRequest',
      tag,
      role,
      summary: 'Get a logged request',
      description: 'Where several came with the same `X-Request-Id`, the newest of them.',
      params: { id: { description: 'Its `X-Request-Id`.', example: '3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44' } },
      answer: RequestDetails,
      kind: 'request',
    },
    ({ db, service, params }) => requestRecord(db, service, params.id),
  ),
]
