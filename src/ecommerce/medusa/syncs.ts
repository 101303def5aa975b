import {
  type ConnectionSettings,
  defaultIntervals,
  type PlatformSyncName,
} from '../../domain/ecommerce/connection-settings.ts'
import { kindBySync, type PlatformItem, platformLists } from '../../domain/ecommerce/items.ts'
import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import type { SyncBatch, SyncDefinition, SyncRequest } from '../../domain/sync/port.ts'
import { toUtc } from '../http/instants.ts'
import type { MedusaClient } from './client.ts'
import {
  type MedusaCustomer,
  type MedusaLocation,
  type MedusaProduct,
  type MedusaVariant,
  toCustomer,
  toLocation,
  toVariant,
} from './items.ts'
import { type MedusaList, readList } from './lists.ts'

const daySeconds = 86_400
/** Transactions commit later than their `updated_at`, and clocks differ: each window begins this long before the last one ended. */
const overlapMs = 10 * 60_000
const rowsPerBatch = 1_000

/** Yields the items that have changed since an instant. Undefined: all items. */
type ReadItems = (client: MedusaClient, since: Date | undefined, signal: AbortSignal) => AsyncIterable<PlatformItem>

/** The syncs of a shop: a full sync daily, which finds deleted records, and the changes since the last run in between. */
export function listSyncs(client: MedusaClient, intervals: ConnectionSettings['intervals']): SyncDefinition[] {
  const define = (name: PlatformSyncName, read: ReadItems, hasWindows = true): SyncDefinition => ({
    name,
    origin: 'ecommerce',
    intervalSeconds: intervals[name] ?? defaultIntervals[name],
    ...(hasWindows && { fullIntervalSeconds: daySeconds }),
    fullLists: [platformLists[kindBySync[name]]],
    fetch: request =>
      fetchItems(client, name, hasWindows ? read : (_, __, signal) => read(client, undefined, signal), request),
  })
  return [
    define('ecommerce-locations', readLocations, false),
    define('ecommerce-variants', readVariants),
    define('ecommerce-customers', readCustomers),
  ]
}

/** Reads a list from the checkpoint, or completely. The next checkpoint is taken before the first request. */
async function* fetchItems(
  client: MedusaClient,
  name: PlatformSyncName,
  read: ReadItems,
  { since, signal, now }: SyncRequest,
): AsyncGenerator<SyncBatch> {
  const checkpoint = toUtc(await now())
  const from = since === undefined ? undefined : new Date(Date.parse(since) - overlapMs)
  let items: PlatformItem[] = []
  const toBatch = (): SyncBatch => ({
    rows: { platformItems: items },
    seen: [{ list: platformLists[kindBySync[name]], ids: items.map(({ itemKey }) => itemKey) }],
  })
  for await (const item of read(client, from, signal)) {
    items.push(item)
    if (items.length < rowsPerBatch) continue
    yield toBatch()
    items = []
  }
  yield { ...toBatch(), end: { since: checkpoint } }
}

/** The filter of a window. Undefined: none. */
const toWindow = (since: Date | undefined) => (since ? { 'updated_at[$gte]': since.toISOString() } : {})

/** A platform that ignores the filter would return all records in each run. */
function requireInWindow({ updated_at }: { updated_at: string }, since: Date | undefined): void {
  if (since && Date.parse(updated_at) < since.getTime())
    throw new PlatformFailure('invalid', 'The platform returned a record outside the requested window.')
}

const locations: MedusaList = {
  path: '/admin/stock-locations',
  field: 'stock_locations',
  fields: 'id,name,updated_at',
}

async function* readLocations(client: MedusaClient, _since: Date | undefined, signal: AbortSignal) {
  for await (const location of readList<MedusaLocation>(client, locations, {}, signal)) yield toLocation(location)
}

const customers: MedusaList = { path: '/admin/customers', field: 'customers', fields: 'id,email,updated_at' }

async function* readCustomers(client: MedusaClient, since: Date | undefined, signal: AbortSignal) {
  for await (const customer of readList<MedusaCustomer>(client, customers, toWindow(since), signal)) {
    requireInWindow(customer, since)
    yield toCustomer(customer)
  }
}

const variantFields = [
  'id',
  'title',
  'sku',
  'barcode',
  'manage_inventory',
  'updated_at',
  'inventory_items.inventory_item_id',
  'inventory_items.required_quantity',
]
const productFields = ['id', 'title', 'status', 'is_giftcard', 'updated_at']

const variants: MedusaList = {
  path: '/admin/product-variants',
  field: 'variants',
  fields: [...variantFields, ...productFields.map(name => `product.${name}`)].join(),
}

const products: MedusaList = {
  path: '/admin/products',
  field: 'products',
  fields: [...productFields, ...variantFields.map(name => `variants.${name}`)].join(),
}

type ProductWithVariants = MedusaProduct & { variants: Omit<MedusaVariant, 'product'>[] }

/** Reads variants. A window also contains the variants of changed products: their status and title belong to the product. */
async function* readVariants(client: MedusaClient, since: Date | undefined, signal: AbortSignal) {
  const seen = new Set<string>()
  for await (const variant of readList<MedusaVariant>(client, variants, toWindow(since), signal)) {
    requireInWindow(variant, since)
    seen.add(variant.id)
    yield toVariant(variant)
  }
  if (!since) return
  for await (const product of readList<ProductWithVariants>(client, products, toWindow(since), signal)) {
    requireInWindow(product, since)
    for (const variant of product.variants) if (!seen.has(variant.id)) yield toVariant({ ...variant, product })
  }
}
