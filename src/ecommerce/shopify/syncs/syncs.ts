import {
  type ConnectionSettings,
  defaultIntervals,
  type PlatformSyncName,
} from '../../../domain/ecommerce/connection-settings.ts'
import { kindBySync, type PlatformItem, platformLists } from '../../../domain/ecommerce/items.ts'
import { PlatformFailure } from '../../../domain/ecommerce/platform-failure.ts'
import type { SyncBatch, SyncDefinition, SyncRequest } from '../../../domain/sync/port.ts'
import { toUtc } from '../../http/instants.ts'
import { readBulk } from '../bulk/bulk.ts'
import type { ShopifyClient } from '../client/client.ts'
import { bulkQueries, operations, type ShopifyOperation } from '../documents/documents.ts'
import { type CustomerNode, type LocationNode, toCustomer, toLocation, toVariant, type VariantNode } from './items.ts'

/** How one list is read. */
interface Source<Node> {
  name: PlatformSyncName
  pages: ShopifyOperation
  field: string
  /** The query of a full sync. Absent: full syncs read pages too, and every run is one. */
  bulkQuery?: string
  toItem(node: Node): PlatformItem
}

const daySeconds = 86_400
/** Search lags behind writes, and clocks differ: each window begins this long before the last one ended. */
const overlapMs = 10 * 60_000
const rowsPerBatch = 1_000

/** The syncs of a shop: a full sync daily, and the changes since the last run in between. */
export const listSyncs = (client: ShopifyClient, intervals: ConnectionSettings['intervals']): SyncDefinition[] => {
  const define = <Node>(source: Source<Node>): SyncDefinition => ({
    name: source.name,
    origin: 'ecommerce',
    intervalSeconds: intervals[source.name] ?? defaultIntervals[source.name],
    ...(source.bulkQuery !== undefined && { fullIntervalSeconds: daySeconds }),
    fullLists: [platformLists[kindBySync[source.name]]],
    fetch: request => fetchItems(client, source, request),
  })
  return [
    define<LocationNode>({
      name: 'ecommerce-locations',
      pages: operations.locations,
      field: 'locations',
      toItem: toLocation,
    }),
    define<VariantNode>({
      name: 'ecommerce-variants',
      pages: operations.variants,
      field: 'productVariants',
      bulkQuery: bulkQueries.variants,
      toItem: toVariant,
    }),
    define<CustomerNode>({
      name: 'ecommerce-customers',
      pages: operations.customers,
      field: 'customers',
      bulkQuery: bulkQueries.customers,
      toItem: toCustomer,
    }),
  ]
}

/** Reads a list from the checkpoint, or completely. The next checkpoint is taken before the first request. */
async function* fetchItems<Node>(
  client: ShopifyClient,
  source: Source<Node>,
  request: SyncRequest,
): AsyncGenerator<SyncBatch> {
  const { since, signal } = request
  const checkpoint = toUtc(await request.now())
  const list = platformLists[kindBySync[source.name]]
  const nodes =
    since === undefined && source.bulkQuery !== undefined
      ? readBulk<Node>(client, source.bulkQuery, signal)
      : readPages(client, source, since, signal)
  const keys = new Set<string>()
  let items: PlatformItem[] = []
  const toBatch = (): SyncBatch => ({
    rows: { platformItems: items },
    seen: [{ list, ids: items.map(({ itemKey }) => itemKey) }],
  })
  for await (const node of nodes) {
    const item = source.toItem(node)
    // A repeated page would hide the page that it replaces.
    if (keys.has(item.itemKey)) throw new PlatformFailure('invalid', 'The platform returned a record twice.')
    keys.add(item.itemKey)
    items.push(item)
    if (items.length < rowsPerBatch) continue
    yield toBatch()
    items = []
  }
  yield { ...toBatch(), end: { since: checkpoint } }
}

interface Page<Node> {
  nodes: Node[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

/** Yields the records that have changed since an instant, in the order of their IDs. Undefined: all records. */
async function* readPages<Node>(
  client: ShopifyClient,
  { pages, field, bulkQuery }: Source<Node>,
  since: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Node> {
  const from = since === undefined || bulkQuery === undefined ? undefined : new Date(Date.parse(since) - overlapMs)
  // Without quotes, the platform cuts an instant to midnight.
  const query = from && `updated_at:>='${from.toISOString().replace(/\.\d+Z$/, 'Z')}'`
  for (let after: string | null = null; ; ) {
    const data: Record<string, Page<Node>> = await client.send(
      pages,
      { after, ...(query !== undefined && { query }) },
      signal,
    )
    const page = data[field]
    if (!page) throw new PlatformFailure('invalid', `The response has no ${field}.`)
    for (const node of page.nodes) {
      if (from && Date.parse((node as { updatedAt: string }).updatedAt) < Math.floor(from.getTime() / 1_000) * 1_000)
        throw new PlatformFailure('invalid', 'The platform returned a record outside the requested window.')
      yield node
    }
    if (!page.pageInfo.hasNextPage) return
    if (page.pageInfo.endCursor === null || page.pageInfo.endCursor === after)
      throw new PlatformFailure('invalid', 'The platform announced a further page without its cursor.')
    after = page.pageInfo.endCursor
  }
}
