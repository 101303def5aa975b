import { RequestDetails, RequestLine } from '../../domain/requests.ts'
import { hashLoggedKey } from '../../http/observability/request-log.ts'
import { findInvertedRange } from '../../http/pagination/lists.ts'
import { get, list } from '../../http/routing/route-definitions.ts'
import { findRequestRecord, readRequestPage } from '../../store/request-log/requests.ts'
import { requestFilters } from './filters.ts'

const [tag, role] = ['Requests', 'admin'] as const

/** The request log of the service. */
export const requests = [
  list(
    '/requests',
    {
      operationId: 'listRequests',
      tag,
      role,
      summary: 'Search the request log',
      description:
        'Entries are stored for `requestLogRetentionDays` and appear after 1 to 2 seconds. Query strings and bodies are not stored. Filters are combined with AND.',
      query: requestFilters,
      validate: query => findInvertedRange('answered', query.answered_after, query.answered_before),
      item: RequestLine,
      errors: ['date_range_inverted'],
    },
    ({ db, service, keys, query: { idempotency_key: key, ...search } }, page) =>
      readRequestPage(db, service, search, key === undefined ? undefined : hashLoggedKey(keys, service.id, key), page),
  ),

  get(
    '/requests/:id',
    {
      operationId: 'getRequest',
      tag,
      role,
      summary: 'Get a logged request',
      description: 'If several requests have the same `X-Request-Id`, the newest one.',
      params: {
        id: { description: 'The `X-Request-Id` of the request.', example: '3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44' },
      },
      response: RequestDetails,
      recordName: 'request',
    },
    ({ db, service, params }) => findRequestRecord(db, service, params.id),
  ),
]
