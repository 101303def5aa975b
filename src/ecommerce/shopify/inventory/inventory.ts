import { getItemKey } from '../../../domain/ecommerce/items.ts'
import { PlatformFailure } from '../../../domain/ecommerce/platform-failure.ts'
import type {
  CallPermit,
  InventoryPort,
  LevelActivation,
  ObservedLevel,
  OnHandChange,
  OnHandResult,
  OrderCommitments,
} from '../../port/inventory.ts'
import { readBulk } from '../bulk/bulk.ts'
import type { ShopifyClient } from '../client/client.ts'
import { bulkQueries, operations, type ShopifyOperation } from '../documents/documents.ts'

/** A call can cost at most the capacity of its class: 900 points on the smallest plan, of which a permit has 10. */
const limits = { changes: 250, items: 37, orders: 17 }

/** The stock of a shop. `push`: the client of the push and its reads. `background`: the client of full reads. */
export const createInventory = ({
  push,
  background,
}: {
  push: ShopifyClient
  background: ShopifyClient
}): InventoryPort => ({
  limits,
  hasIdempotencyKeys: true,
  readAllLevels: signal => readAllLevels(background, signal),
  readLevels: (itemIds, signal) => readLevels(push, itemIds, signal),
  readCommitments: (orderIds, signal) => readCommitments(push, orderIds, signal),
  readAuthors: (levels, since, signal) => readAuthors(background, levels, since, signal),
  async reserveCall(signal) {
    await push.reserve(operations.setQuantities, signal)
    return new Permit(push)
  },
  setOnHand: (permit, key, changes, signal) => setOnHand(push, permit, key, changes, signal),
  activateLevel: (permit, key, activation, signal) => activateLevel(push, permit, key, activation, signal),
})

/** The reserved points of one call. */
class Permit implements CallPermit {
  #isUsed = false
  readonly #client: ShopifyClient

  constructor(client: ShopifyClient) {
    this.#client = client
  }

  /** Uses the points. Returns false if they are used already. */
  use(): boolean {
    const isFirst = !this.#isUsed
    this.#isUsed = true
    return isFirst
  }

  async release() {
    if (this.use()) await this.#client.release(operations.setQuantities)
  }
}

const usePermit = (permit: CallPermit) => ({ isReserved: permit instanceof Permit && permit.use() })

interface LevelNode {
  isActive: boolean
  location: { id: string }
  quantities: { name: string; quantity: number }[]
}

const heldBackNames = ['reserved', 'damaged', 'quality_control', 'safety_stock']

function toObserved(itemId: string, { location, quantities }: LevelNode): ObservedLevel {
  const units = new Map(quantities.map(({ name, quantity }) => [name, quantity]))
  const count = (name: string) => {
    const quantity = units.get(name)
    if (quantity === undefined) throw new PlatformFailure('invalid', `A level has no quantity ${name}.`)
    return quantity
  }
  return {
    itemId,
    locationId: location.id,
    onHand: count('on_hand'),
    committed: count('committed'),
    heldBack: heldBackNames.reduce((sum, name) => sum + count(name), 0),
  }
}

type BulkRow = { id: string } | (LevelNode & { __parentId: string })

async function* readAllLevels(client: ShopifyClient, signal: AbortSignal): AsyncGenerator<ObservedLevel> {
  for await (const row of readBulk<BulkRow>(client, bulkQueries.levels, signal))
    if ('__parentId' in row && row.isActive) yield toObserved(row.__parentId, row)
}

/** Throws if a nested list was cut off. */
function requireComplete({ pageInfo }: { pageInfo: { hasNextPage: boolean } }, list: string): void {
  if (pageInfo.hasNextPage) throw new PlatformFailure('invalid', `The platform cut off the list of ${list}.`)
}

/** Reads records by ID. Their cost counts for each ID. */
async function readNodes<Node>(client: ShopifyClient, operation: ShopifyOperation, ids: string[], signal: AbortSignal) {
  if (!ids.length) return []
  const { nodes } = await client.send<{ nodes: (Node | null)[] }>(
    { ...operation, cost: operation.cost * ids.length },
    { ids },
    signal,
  )
  return nodes.filter(node => node !== null)
}

interface ItemNode {
  id: string
  inventoryLevels: { nodes: LevelNode[]; pageInfo: { hasNextPage: boolean } }
}

async function readLevels(client: ShopifyClient, itemIds: readonly string[], signal: AbortSignal) {
  const items = await readNodes<ItemNode>(client, operations.levels, [...itemIds], signal)
  return items.flatMap(({ id, inventoryLevels }) => {
    requireComplete(inventoryLevels, 'levels')
    return inventoryLevels.nodes.filter(({ isActive }) => isActive).map(node => toObserved(id, node))
  })
}

interface OrderNode {
  id: string
  fulfillmentOrders: {
    nodes: {
      status: string
      assignedLocation: { location: { id: string } | null } | null
      lineItems: {
        nodes: { id: string; remainingQuantity: number; inventoryItemId: string | null }[]
        pageInfo: { hasNextPage: boolean }
      }
    }[]
    pageInfo: { hasNextPage: boolean }
  }
}

const orderGid = 'gid://shopify/Order/'
/** Fulfilment orders in these states have no committed units. */
const closedStates = ['CANCELLED', 'CLOSED']

async function readCommitments(
  client: ShopifyClient,
  orderIds: readonly string[],
  signal: AbortSignal,
): Promise<OrderCommitments[]> {
  const ids = orderIds.filter(id => /^\d+$/.test(id)).map(id => orderGid + id)
  const orders = await readNodes<OrderNode>(client, operations.commitments, ids, signal)
  return orders.map(({ id, fulfillmentOrders }) => {
    requireComplete(fulfillmentOrders, 'fulfilment orders')
    const open = fulfillmentOrders.nodes.filter(({ status }) => !closedStates.includes(status))
    return {
      orderId: id.slice(orderGid.length),
      lines: open.flatMap(({ assignedLocation, lineItems }) => {
        requireComplete(lineItems, 'lines')
        const locationId = assignedLocation?.location?.id
        if (locationId === undefined) return []
        return lineItems.nodes.flatMap(({ id: lineId, remainingQuantity: units, inventoryItemId: itemId }) =>
          itemId === null || units <= 0 ? [] : [{ lineId, locationId, itemId, units }],
        )
      }),
    }
  })
}

interface StockChange {
  inventory_item_id: string | number
  inventory_location_id: string | number
  inventory_app_name: string | null
  staff_member_name: string | null
  reference_document_uri: string | null
}

interface StockChangeData {
  shopifyqlQuery: { tableData: { rows: StockChange[] } | null; parseErrors: string[] } | null
}

/** The start of the document that our own changes name. */
const ownDocument = 'gid://tillbridge/StockPush/'

/** The newest changes that are searched. */
const maxStockChanges = 1_000

/** Reads the history of stock changes, newest first. It is the only place where the platform names who has changed a level. */
async function readAuthors(
  client: ShopifyClient,
  levels: readonly { itemId: string; locationId: string }[],
  since: string,
  signal: AbortSignal,
) {
  const query = `FROM inventory_adjustment_history SHOW inventory_adjustment_change
SINCE ${since.slice(0, 19)}
GROUP BY second, inventory_item_id, inventory_location_id, inventory_app_name, staff_member_name, reference_document_uri
ORDER BY second DESC LIMIT ${maxStockChanges}`
  const { shopifyqlQuery } = await client.send<StockChangeData>(operations.stockChanges, { query }, signal)
  if (!shopifyqlQuery?.tableData || shopifyqlQuery.parseErrors.length)
    throw new PlatformFailure('invalid', 'The platform rejected the query of stock changes.')
  const authors = new Map<string, string>()
  for (const row of shopifyqlQuery.tableData.rows) {
    const key = `${row.inventory_item_id} ${row.inventory_location_id}`
    const author = row.staff_member_name ?? row.inventory_app_name
    if (author !== null && !authors.has(key) && !row.reference_document_uri?.startsWith(ownDocument))
      authors.set(key, author)
  }
  return levels.flatMap(({ itemId, locationId }) => {
    const changedBy = authors.get(`${getItemKey(itemId)} ${getItemKey(locationId)}`)
    return changedBy === undefined ? [] : [{ itemId, locationId, changedBy }]
  })
}

interface UserError {
  field: string[] | null
  message: string
  code?: string | null
}

/** Errors that say nothing about the quantities: the level is read before the next push. */
const staleCodes = ['CHANGE_FROM_QUANTITY_STALE', 'ITEM_NOT_STOCKED_AT_LOCATION']

/** Returns the row of `quantities` that an error names, by its path: `input.quantities.71.inventoryItemId`. */
function getRow({ field }: UserError): number | undefined {
  const at = field?.indexOf('quantities') ?? -1
  const row = Number(field?.[at + 1])
  return at < 0 || !Number.isInteger(row) ? undefined : row
}

async function setOnHand(
  client: ShopifyClient,
  permit: CallPermit,
  key: string,
  changes: readonly OnHandChange[],
  signal: AbortSignal,
): Promise<OnHandResult[]> {
  const input = {
    name: 'on_hand',
    reason: 'correction',
    referenceDocumentUri: `${ownDocument}${key}`,
    quantities: changes.map(({ itemId, locationId, onHand, expectedOnHand }) => ({
      inventoryItemId: itemId,
      locationId,
      quantity: onHand,
      changeFromQuantity: expectedOnHand,
    })),
  }
  const { inventorySetQuantities: result } = await client.send<{
    inventorySetQuantities: { userErrors: UserError[] } | null
  }>(operations.setQuantities, { input, key }, signal, usePermit(permit))
  return toResults(result?.userErrors ?? [], changes.length)
}

/** One bad row rejects all of them. The others are sent again under another key. */
function toResults(errors: readonly UserError[], count: number): OnHandResult[] {
  const states = Array.from(
    { length: count },
    (): OnHandResult => ({ state: errors.length ? 'notApplied' : 'applied' }),
  )
  for (const error of errors) {
    const code = error.code ?? 'REJECTED'
    if (code.endsWith('CONCURRENT_REQUEST'))
      throw new PlatformFailure('unavailable', 'The platform still runs the previous request with this key.')
    // The previous attempt under this key was rejected, so nothing was applied.
    if (code.endsWith('PREVIOUS_ATTEMPT_FAILED')) continue
    const row = getRow(error)
    if (row === undefined) return states.map(() => ({ state: 'stale' }))
    if (row < count) states[row] = staleCodes.includes(code) ? { state: 'stale' } : { state: 'rejected', reason: code }
  }
  return states
}

async function activateLevel(
  client: ShopifyClient,
  permit: CallPermit,
  key: string,
  { itemId, locationId, onHand }: LevelActivation,
  signal: AbortSignal,
): Promise<OnHandResult> {
  const variables = { item: itemId, location: locationId, onHand, key }
  const { inventoryActivate: result } = await client.send<{ inventoryActivate: { userErrors: UserError[] } | null }>(
    operations.activate,
    variables,
    signal,
    usePermit(permit),
  )
  return result?.userErrors.length ? { state: 'rejected', reason: 'ACTIVATION_REJECTED' } : { state: 'applied' }
}
