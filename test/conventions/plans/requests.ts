import { readFileSync } from 'node:fs'

/** A list as described by `openapi.json`. */
interface List {
  path: string
  filters: string[]
}

/** A request for the first page of a list. */
export interface ListRequest {
  list: string
  /** The names of its filters. */
  filters: string[]
  /** Path and query. */
  url: string
}

interface Parameter {
  $ref?: string
  in?: string
  name?: string
}
interface PathItem {
  get?: { parameters?: Parameter[] }
}
const { paths, components } = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, PathItem>
  components: { parameters: Record<string, Parameter> }
}

const resolveParameter = (parameter: Parameter) =>
  components.parameters[parameter.$ref?.split('/').at(-1) ?? ''] ?? parameter

/** All lists of the API: the paths with pages. */
export const lists: List[] = Object.entries(paths).flatMap(([path, { get }]) => {
  const parameters = (get?.parameters ?? []).map(resolveParameter)
  const query = parameters.flatMap(parameter => (parameter.in === 'query' ? [parameter.name ?? ''] : []))
  const filters = query.filter(name => !['after_cursor', 'limit', 'wait'].includes(name))
  return query.includes('after_cursor') && query.includes('limit') ? [{ path, filters }] : []
})

/** A time before most changes, and a time before the last few. */
const updated_after = ['2024-02-01', '2024-12-31']
const soldRanges = { sold_after: ['2024-01-20'], sold_before: ['2024-11-01'] }

const state = ['mapped', 'unmapped']
const issueStates = ['unmapped']

/** Values that `shop.ts` has created, by list and filter. */
const values: Record<string, Record<string, readonly string[]>> = {
  '/stores': { ecommerce_location_id: ['l7'], kind: ['store'] },
  '/staff': { email: ['f7@example.com'], code: ['f7'] },
  '/inventory': { sku: ['sku7'], store_number: ['7'], updated_after, explain: ['true'] },
  '/products': { code: ['code7'], sku: ['sku7'], updated_after, removed: ['true'] },
  '/customers/search': { updated_after, name: ['name7'] },
  '/customers': { email: ['c7@example.com'], updated_after },
  '/orders/transactions/search': { updated_after, updated_before: ['2024-06-01'], asc: ['true'], ...soldRanges },
  '/customers/{id}/transactions': soldRanges,
  '/orders': { order_number: ['o7'] },
  '/mappings/stores': { state },
  '/mappings/skus': { state },
  '/mappings/customers': { state },
  '/mappings/issues/stores': { state: issueStates },
  '/mappings/issues/skus': { state: issueStates },
  '/mappings/issues/customers': { state: issueStates },
  '/accounts': { is_program: ['false'] },
  '/audit': { updated_after, record: ['/customers/7'], account: ['u1'], group: ['admin'], asc: ['false'] },
  '/requests': {
    request_id: ['r7'],
    idempotency_key: ['k7'],
    operation: ['GET%20%2Fcustomers%2F%3Aid'],
    path: ['/customers/7'],
    record: ['/customers/7'],
    status: ['404'],
    failed: ['true'],
    code: ['not_found'],
    account: ['u1'],
    answered_after: ['2026-01-01'],
    answered_before: ['2099-01-01'],
  },
  '/ecommerce/levels': { state: ['due', 'inFlight', 'held', 'inStep'], reason: ['unmapped'], itemId: ['i7'] },
  '/changes': { kinds: ['customer,inventory'], records: ['true'] },
}
/** For each record type, the ID with more than a page of records. */
const ids: Record<string, string> = {
  '/customers/{id}': '/customers/c1',
  '/orders/{id}': '/orders/o1',
  '/webhooks/{id}': '/webhooks/w1',
  '/syncs/{sync}': '/syncs/sync1',
  '/ecommerce/reconciliations/{id}': '/ecommerce/reconciliations/r1',
}

/** Lists with so many filters that only single filters are tested. */
const listsTestedAlone: ReadonlySet<string> = new Set(['/requests'])

/** Builds the requests for a list: without a filter, with each filter, and with several. Throws if a filter has no values. */
export function buildRequests({ path, filters }: List): ListRequest[] {
  let queries: string[][] = [[]]
  for (const filter of filters) {
    const input = values[path]?.[filter]
    if (!input)
      throw new Error(`The filter ${filter} of ${path} must have values in test/conventions/plans/requests.ts`)
    queries = queries.flatMap(query => [query, ...input.map(value => [...query, `${filter}=${value}`])])
  }
  // Tombstones are listed only with a time and without other filters.
  const canListTombstones = (query: string[]) =>
    query.length === 2 && query.some(input => input.startsWith('updated_after'))
  queries = queries.filter(query => !query.includes('removed=true') || canListTombstones(query))
  if (listsTestedAlone.has(path)) queries = queries.filter(query => query.length <= 1)
  const resolvedPath = path.replace(/^\/[\w/]+\/\{\w+\}/, prefix => ids[prefix] ?? prefix)
  return queries.map(query => ({
    list: path,
    filters: query.map(parameter => parameter.split('=')[0] ?? ''),
    url: query.length ? `${resolvedPath}?${query.join('&')}` : resolvedPath,
  }))
}
