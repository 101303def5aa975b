import { GraphQLError } from 'graphql'
import { notifyLevel } from './changes.ts'
import { addLevel, computeOnHand, findLevel, heldNames, type Level } from './state.ts'
import { fromGid, type RequestContext, type ShopifyWorld, toGid } from './world.ts'

interface QuantityInput {
  inventoryItemId: string
  locationId: string
  quantity: number
  changeFromQuantity?: number | null
}

export interface SetQuantitiesInput {
  name: string
  reason: string
  referenceDocumentUri?: string | null
  quantities: QuantityInput[]
}

export interface UserError {
  field: string[]
  message: string
  code?: string
}

const maxQuantity = 1_000_000_000
export const maxArrayLength = 250
const reasons = new Set(
  'correction cycle_count_available damaged movement_created movement_updated movement_received movement_canceled other promotion quality_control received reservation_created reservation_deleted reservation_updated restock safety_stock shrinkage'.split(
    ' ',
  ),
)

const createBadRequest = (message: string, code = 'BAD_REQUEST') => new GraphQLError(message, { extensions: { code } })

/** Throws if the platform would reject the request before it reaches the shop. */
function checkRequest({ quantities }: SetQuantitiesInput): void {
  if (quantities.length > maxArrayLength)
    throw createBadRequest(
      `The input array size of ${quantities.length} is greater than the maximum allowed of ${maxArrayLength}.`,
      'MAX_INPUT_SIZE_EXCEEDED',
    )
  if (quantities.some(quantity => quantity.changeFromQuantity === undefined))
    throw createBadRequest(
      'InventoryQuantityInput must include the following argument: changeFromQuantity.',
      'INVALID_FIELD_ARGUMENTS',
    )
}

function findErrors({ shop }: ShopifyWorld, input: SetQuantitiesInput, version: string): UserError[] {
  const errors: UserError[] = []
  const add = (field: string[], code: string, message: string) =>
    errors.push({ field: ['input', ...field], message, code })
  if (input.name !== 'on_hand' && input.name !== 'available')
    add(['name'], 'INVALID_NAME', 'The quantity name must be either "available" or "on_hand".')
  if (!reasons.has(input.reason)) add(['reason'], 'INVALID_REASON', 'The specified reason is invalid.')
  if (input.referenceDocumentUri && !/^[a-z][\w+.-]*:\/\/\S+$/i.test(input.referenceDocumentUri))
    add(['referenceDocumentUri'], 'INVALID_REFERENCE_DOCUMENT', 'The specified reference document is invalid.')
  const seenKeys = new Set<string>()
  for (const [at, row] of input.quantities.entries()) {
    const place = ['quantities', String(at)]
    const key = `${row.inventoryItemId} ${row.locationId}`
    const variant = shop.items.get(fromGid('InventoryItem', row.inventoryItemId))
    const location = shop.locations.get(fromGid('Location', row.locationId))
    if (seenKeys.has(key))
      add(
        place,
        'NO_DUPLICATE_INVENTORY_ITEM_ID_GROUP_ID_PAIR',
        'The combination of inventoryItemId and locationId must be unique.',
      )
    seenKeys.add(key)
    if (row.quantity < 0) add([...place, 'quantity'], 'INVALID_QUANTITY_NEGATIVE', "The quantity can't be negative.")
    if (row.quantity > maxQuantity)
      add([...place, 'quantity'], 'INVALID_QUANTITY_TOO_HIGH', "The quantity can't be higher than 1,000,000,000.")
    if (!variant)
      add([...place, 'inventoryItemId'], 'INVALID_INVENTORY_ITEM', 'The specified inventory item could not be found.')
    else if (variant.requiresComponents)
      add(
        [...place, 'inventoryItemId'],
        'NON_MUTABLE_INVENTORY_ITEM',
        'The specified inventory item is not allowed to be adjusted via API. Example: if the inventory item is a parent bundle.',
      )
    if (!location?.isActive)
      add([...place, 'locationId'], 'INVALID_LOCATION', 'The specified location could not be found.')
    else if (variant) {
      const level = findLevel(shop, variant.itemId, location.id)
      if (!level?.isActive) {
        if (version < '2026-10')
          add(
            [...place, 'locationId'],
            'ITEM_NOT_STOCKED_AT_LOCATION',
            'The specified inventory item is not stocked at the location.',
          )
        else add([...place, 'locationId'], 'INVALID_LOCATION', 'The specified location could not be found.')
      } else if (row.changeFromQuantity !== null && row.changeFromQuantity !== getQuantity(level, input.name))
        add(
          [...place, 'changeFromQuantity'],
          'CHANGE_FROM_QUANTITY_STALE',
          'The specified compare quantity does not match the current quantity.',
        )
    }
  }
  return errors
}

const getQuantity = (level: Level, name: string) => (name === 'on_hand' ? computeOnHand(level) : level.available)

/** Runs a mutation once per idempotency key. A replay returns the current state and changes nothing. */
export function runOnce<T extends { userErrors: UserError[] }>(
  { world: { shop } }: RequestContext,
  key: string | undefined,
  request: unknown,
  run: () => T,
  onFailure: (error: UserError) => T,
  onReplay: () => T,
): T {
  if (key === undefined)
    throw createBadRequest('The @idempotent directive is required for this mutation but was not provided.')
  const fingerprint = JSON.stringify(request)
  const earlierRequest = shop.keys.get(key)
  if (earlierRequest && earlierRequest.fingerprint !== fingerprint)
    return onFailure({
      field: [],
      code: 'IDEMPOTENCY_KEY_PARAMETER_MISMATCH',
      message: 'The idempotency key was used with other parameters.',
    })
  if (earlierRequest?.hasFailed)
    return onFailure({
      field: [],
      code: 'IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED',
      message: 'The previous attempt with this idempotency key failed.',
    })
  if (earlierRequest) return onReplay()
  const result = run()
  shop.keys.set(key, { fingerprint, hasFailed: result.userErrors.length > 0 })
  return result
}

/** Sets quantities. One invalid row rejects all rows. */
export function setQuantities(context: RequestContext, input: SetQuantitiesInput, key: string | undefined) {
  checkRequest(input)
  const { world, version } = context
  const succeed = () => ({
    inventoryAdjustmentGroup: { id: toGid('InventoryAdjustmentGroup', world.shop.nextId()) },
    userErrors: [] as UserError[],
  })
  const reject = (userErrors: UserError[]) => ({ inventoryAdjustmentGroup: null, userErrors })
  return runOnce<ReturnType<typeof succeed> | ReturnType<typeof reject>>(
    context,
    key,
    input,
    () => {
      const errors = findErrors(world, input, version)
      if (errors.length) return reject(errors)
      for (const { inventoryItemId, locationId, quantity } of input.quantities) {
        const level = findLevel(world.shop, fromGid('InventoryItem', inventoryItemId), fromGid('Location', locationId))
        if (!level) continue
        const delta = quantity - getQuantity(level, input.name)
        level.available += delta
        const { itemId } = level
        const documentUri = input.referenceDocumentUri ?? null
        const by = { appName: world.settings.clientId, staffName: null, documentUri }
        world.shop.adjustments.push({ at: world.now(), itemId, locationId: level.locationId, delta, ...by })
        level.updatedAt = world.now()
        notifyLevel(world, level)
      }
      return succeed()
    },
    error => reject([error]),
    succeed,
  )
}

/** Stocks an item at a location. The quantities of an earlier activation stay, unless `onHand` replaces them. */
export function activate(
  world: ShopifyWorld,
  { itemId, locationId, onHand }: { itemId: number; locationId: number; onHand: number | null | undefined },
): Level | undefined {
  const { shop } = world
  if (!shop.items.has(itemId) || !shop.locations.get(locationId)?.isActive) return
  const level = findLevel(shop, itemId, locationId) ?? addLevel(shop, itemId, locationId, world.now())
  level.isActive = true
  level.updatedAt = world.now()
  if (typeof onHand === 'number')
    level.available = onHand - level.committed - heldNames.reduce((sum, name) => sum + level[name], 0)
  return level
}
