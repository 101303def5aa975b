import { estimatePercentile } from '../../domain/latencies.ts'
import { RequestLine } from '../../domain/requests.ts'
import { Flag } from '../../domain/values/fields.ts'
import { hashLoggedKey } from '../../http/observability/request-log.ts'
import { findInvertedRange } from '../../http/pagination/lists.ts'
import { get, list } from '../../http/routing/route-definitions.ts'
import { Type } from '../../schemas/schemas.ts'
import { groupErrors, maxGroupedErrors, readRequestPage } from '../../store/request-log/requests.ts'
import { readRequestIntervals } from '../../store/stats/stats.ts'
import { requestFilters } from '../requests/filters.ts'
import { consoleRoute, rangeQuery } from './console-data.ts'

const [tag, role] = ['Requests', 'admin'] as const

const query = Type.Object({
  ...requestFilters.properties,
  console: Type.Optional(Flag('True to include requests of the console.', false)),
})

/** The request log without requests of the console, and its numbers. */
export const consoleRequests = [
  list(
    '/console/requests',
    {
      operationId: 'listApiRequests',
      tag,
      role,
      summary: 'Search the request log without the console',
      description: consoleRoute.description,
      query,
      validate: ({ answered_after: after, answered_before: before }) => findInvertedRange('answered', after, before),
      item: RequestLine,
      errors: ['date_range_inverted'],
    },
    ({ db, service, keys, query: { idempotency_key: key, console: includesConsole = false, ...search } }, page) =>
      readRequestPage(
        db,
        service,
        { ...search, excludesConsole: !includesConsole },
        key === undefined ? undefined : hashLoggedKey(keys, service.id, key),
        page,
      ),
  ),

  get(
    '/console/requests/errors',
    { ...consoleRoute, operationId: 'groupErrors', tag, role, summary: 'Group errors by code and field', query },
    async ({ db, service, query: { idempotency_key: _, console: includesConsole = false, ...search } }) => ({
      data: {
        max: maxGroupedErrors,
        groups: await groupErrors(db, service, { ...search, excludesConsole: !includesConsole }),
      },
    }),
  ),

  get(
    '/console/requests/intervals',
    {
      ...consoleRoute,
      operationId: 'readRequestIntervals',
      tag: 'Stats',
      summary: 'Count requests by time',
      query: rangeQuery,
    },
    async ({ db, service, query: { range = '24h' } }) => {
      const intervals = await readRequestIntervals(db, service, range)
      const total = intervals.map(({ durations }) => durations).reduce(addHistograms, [])
      return {
        data: {
          p95: estimatePercentile(total, 0.95),
          intervals: intervals.map(({ durations, ...interval }) => ({
            ...interval,
            p95: estimatePercentile(durations, 0.95),
          })),
        },
      }
    },
  ),
]

const addHistograms = (sum: readonly number[], durations: readonly number[]) =>
  durations.map((count, i) => count + (sum[i] ?? 0))
