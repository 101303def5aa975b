import type { CreateId } from './changes.ts'
import { findMedusaLevel, type LevelRecord, type MedusaShop } from './state.ts'

/* The routes of the Admin API that Tillbridge uses, with responses like those of Medusa 2.21.2. `npm run scenario -- medusa` runs the driver against a real Medusa. */

export interface MedusaRequest {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
}

export interface MedusaResponse {
  status: number
  body: object
}

interface List {
  field: string
  records(shop: MedusaShop): object[]
  /** The fields by which a request can filter. */
  filters: readonly string[]
}

const listVariants = (shop: MedusaShop) =>
  [...shop.variants.values()].map(variant => ({ ...variant, product: shop.products.get(variant.product_id) }))
const findVariants = (shop: MedusaShop, productId: string) =>
  [...shop.variants.values()].filter(({ product_id }) => product_id === productId)
const findLevels = (shop: MedusaShop, itemId: string) =>
  [...shop.levels.values()].filter(({ inventory_item_id }) => inventory_item_id === itemId)

const lists: Record<string, List> = {
  '/admin/stock-locations': {
    field: 'stock_locations',
    records: shop => [...shop.locations.values()],
    filters: ['id', 'updated_at'],
  },
  '/admin/customers': {
    field: 'customers',
    records: shop => [...shop.customers.values()],
    filters: ['id', 'updated_at'],
  },
  '/admin/product-variants': { field: 'variants', records: listVariants, filters: ['id', 'updated_at'] },
  '/admin/products': {
    field: 'products',
    records: shop =>
      [...shop.products.values()].map(product => ({ ...product, variants: findVariants(shop, product.id) })),
    filters: ['id', 'updated_at'],
  },
  '/admin/inventory-items': {
    field: 'inventory_items',
    records: shop => [...shop.items.values()].map(item => ({ ...item, location_levels: findLevels(shop, item.id) })),
    filters: ['id'],
  },
  '/admin/orders': { field: 'orders', records: shop => [...shop.orders.values()], filters: ['id', 'updated_at'] },
  '/admin/reservations': {
    field: 'reservations',
    records: shop => [...shop.reservations.values()],
    filters: ['line_item_id', 'updated_at'],
  },
  '/admin/stores': {
    field: 'stores',
    records: () => [
      {
        id: 'store_1',
        name: 'Medusa Store',
        supported_currencies: [
          { currency_code: 'eur', is_default: false },
          { currency_code: 'aud', is_default: true },
        ],
      },
    ],
    filters: ['id'],
  },
  '/admin/price-preferences': {
    field: 'price_preferences',
    records: () => [{ id: 'prpref_1', attribute: 'currency_code', value: 'aud', is_tax_inclusive: true }],
    filters: ['attribute', 'value'],
  },
}

const pageParameters = ['fields', 'limit', 'offset', 'order']

const reject = (status: number, type: string, message: string): MedusaResponse => ({ status, body: { type, message } })

/** Returns the response to a request. If `isRepeated` is true, lists return their first page, whatever offset is requested. */
export function handleMedusaRequest(
  shop: MedusaShop,
  request: MedusaRequest,
  { now, createId, isRepeated }: { now: string; createId: CreateId; isRepeated: boolean },
): MedusaResponse {
  const { method, path } = request
  const list = lists[path]
  if (method === 'GET' && list) return handleList(shop, list, request.query, isRepeated)
  const itemId = /^\/admin\/inventory-items\/([^/]+)\/location-levels$/.exec(path)?.[1]
  if (method === 'POST' && path === '/admin/inventory-items/location-levels/batch')
    return updateLevels(shop, request.body, now)
  if (method === 'POST' && itemId) return createLevel(shop, itemId, request.body, now, createId)
  return reject(404, 'not_found', `The simulator has no ${method} ${path}.`)
}

function handleList(shop: MedusaShop, { field, records, filters }: List, query: URLSearchParams, isRepeated: boolean) {
  const conditions: ((record: Record<string, unknown>) => boolean)[] = []
  for (const name of new Set(query.keys())) {
    const [, filter = '', operator] = /^(\w+)(?:\[(.*)\])?$/.exec(name) ?? []
    if (pageParameters.includes(name)) continue
    if (!filters.includes(filter))
      return reject(400, 'invalid_data', `Invalid request: Unrecognized fields: '${filter}'`)
    const values = query.getAll(name)
    if (operator === '$gte')
      conditions.push(record => Date.parse(String(record[filter])) >= Date.parse(values[0] ?? ''))
    else conditions.push(record => values.includes(String(record[filter])))
  }
  const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 50)]
  const matching = (records(shop) as Record<string, unknown>[])
    .filter(record => conditions.every(matches => matches(record)))
    .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
  const start = isRepeated ? 0 : offset
  const fields = query.get('fields')?.split(',')
  const page = matching.slice(start, start + limit).map(record => (fields ? selectFields(record, fields) : record))
  return { status: 200, body: { [field]: page, count: matching.length, offset, limit } }
}

/** Returns the requested fields: `id`, `product.title`, or `location_levels.stocked_quantity` of each level. */
function selectFields(record: object, fields: readonly string[]): object {
  const result: Record<string, unknown> = {}
  for (const [name, paths] of Map.groupBy(fields, path => path.split('.')[0] ?? '')) {
    const value = (record as Record<string, unknown>)[name]
    const nested = paths.flatMap(path => (path.includes('.') ? path.slice(name.length + 1) : []))
    if (!nested.length || typeof value !== 'object' || value === null) result[name] = value
    else
      result[name] = Array.isArray(value)
        ? value.map(element => selectFields(element, nested))
        : selectFields(value, nested)
  }
  return result
}

interface LevelInput {
  inventory_item_id?: unknown
  location_id?: unknown
  stocked_quantity?: unknown
}

/** Sets quantities. If a level doesn't exist or a value is invalid, sets none. Compares no previous quantities. */
function updateLevels(shop: MedusaShop, body: unknown, now: string): MedusaResponse {
  const { update = [] } = body as { update?: LevelInput[] }
  const problem = update.findIndex(({ stocked_quantity: units }) => typeof units !== 'number' || units < 0)
  if (problem >= 0)
    return reject(
      400,
      'invalid_data',
      `Invalid request: Value for field 'update, ${problem}, stocked_quantity' too small, expected at least: '0'`,
    )
  const levels = update.map(input => findMedusaLevel(shop, String(input.inventory_item_id), String(input.location_id)))
  const missing = update.filter((_, at) => levels[at] === undefined)
  if (missing.length)
    return reject(
      404,
      'not_found',
      missing
        .map(input => `Item ${input.inventory_item_id} is not stocked at location ${input.location_id}`)
        .join(', '),
    )
  const updated: LevelRecord[] = []
  for (const [at, level] of levels.entries()) {
    if (!level) continue
    level.stocked_quantity = Number(update[at]?.stocked_quantity)
    level.updated_at = now
    updated.push({ ...level })
  }
  return { status: 200, body: { created: [], updated } }
}

function createLevel(shop: MedusaShop, itemId: string, body: unknown, now: string, createId: CreateId): MedusaResponse {
  const { location_id, stocked_quantity } = body as LevelInput
  const locationId = String(location_id)
  if (!shop.locations.has(locationId))
    return reject(404, 'not_found', `Stock locations with ids: ${locationId} was not found`)
  if (!shop.items.has(itemId))
    return reject(
      404,
      'not_found',
      `You tried to set relationship inventory_item_id: ${itemId}, but such entity does not exist`,
    )
  if (findMedusaLevel(shop, itemId, locationId))
    return reject(
      400,
      'invalid_data',
      `Inventory level with inventory_item_id: ${itemId}, location_id: ${locationId}, already exists.`,
    )
  const id = createId('ilev')
  shop.levels.set(id, {
    id,
    created_at: now,
    updated_at: now,
    inventory_item_id: itemId,
    location_id: locationId,
    stocked_quantity: Number(stocked_quantity ?? 0),
    reserved_quantity: 0,
  })
  return { status: 200, body: { inventory_item: { id: itemId } } }
}
