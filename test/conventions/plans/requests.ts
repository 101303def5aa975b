import { readFileSync } from 'node:fs'

/** A list as described by `openapi.json`. */
interface List {
  path: string
  filters: string[]
}

/** A request for the first page of a list. */
export interface ListRequest {
  list: string
  /** The filters that it gives. */
  filters: string[]
  /** Path and query. */
  url: string
}

interface Parameter {
  $ref?: string
  in?: string
  name?: string
}
interface Described {
  get?: { parameters?: Parameter[] }
}
const { paths, components } = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Described>
  components: { parameters: Record<string, Parameter> }
}

const resolveParameter = (parameter: Parameter) =>
  components.parameters[parameter.$ref?.split('/').at(-1) ?? ''] ?? parameter

/** All lists of the API: what has pages. */
export const lists: List[] = Object.entries(paths).flatMap(([path, { get }]) => {
  const parameters = (get?.parameters ?? []).map(resolveParameter)
  const query = parameters.flatMap(parameter => (parameter.in === 'query' ? [parameter.name ?? ''] : []))
  const filters = query.filter(name => !['after_cursor', 'limit', 'wait'].includes(name))
  return query.includes('after_cursor') && query.includes('limit') ? [{ path, filters }] : []
})

/** Before most changes, and before the last few. */
const updated_after = ['2024-02-01', '2024-12-31']
const sold = { sold_after: ['2024-01-20'], sold_before: ['2024-11-01'] }

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
  '/orders/transactions/search': { updated_after, updated_before: ['2024-06-01'], asc: ['true'], ...sold },
  '/customers/{id}/transactions': sold,
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

/** Lists with so many filters that each is tested alone. */
const alone: ReadonlySet<string> = new Set(['/requests'])

/** The requests that there are for a list: without a filter, with each, and with several. */
export function requestsFor({ path, filters }: List): ListRequest[] {
  let queries: string[][] = [[]]
  for (const filter of filters) {
    const input = values[path]?.[filter]
    if (!input) throw new Error(`${path} has a filter ${filter}: say here what to filter by`)
    queries = queries.flatMap(query => [query, ...input.map(value => [...query, `${filter}=${value}`])])
  }
  // Tombstones are listed only with a time and without other filters.
  const listsTombstones = (query: string[]) =>
    query.length === 2 && query.some(input => input.startsWith('updated_after'))
  queries = queries.filter(query => !query.includes('removed=true') || listsTombstones(query))
  if (alone.has(path)) queries = queries.filter(query => query.length <= 1)
  const at = path.replace(/^\/[\w/]+\/\{\w+\}/, of => ids[of] ?? of)
  return queries.map(query => ({
    list: path,
    filters: query.map(parameter => parameter.split('=')[0] ?? ''),
    url: query.length ? `${at}?${query.join('&')}` : at,
  }))
}
