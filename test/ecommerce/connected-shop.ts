import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import type { ShopifySimulator } from '../../simulator/shopify/handle.ts'
import { findLevel } from '../../simulator/shopify/state.ts'
import { sql } from '../../src/database/db.ts'
import {
  type ConnectionSettings,
  defaultConnection,
  type PlatformSyncName,
} from '../../src/domain/ecommerce/connection-settings.ts'
import { openPlatform } from '../../src/ecommerce/connections.ts'
import { reconcileStock } from '../../src/ecommerce/reconciliation/reconcile.ts'
import { runPlatformSync } from '../../src/ecommerce/run-platform-sync.ts'
import { confirmOrders } from '../../src/ecommerce/stock-push/confirm.ts'
import { pushStock } from '../../src/ecommerce/stock-push/push.ts'
import { checkEcommerceConnection } from '../../src/jobs/check-ecommerce-connection.ts'
import { setConnection } from '../../src/store/ecommerce/connections.ts'
import { upsertStock } from '../../src/store/inventory/stock.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { createUnmappedShop } from '../support/mapping-shop.ts'
import type { Caller, TestApi } from '../support/service.ts'
import { post, put, withKey } from '../support/write.ts'

export const log = pino({ level: 'silent' })
/** Ends after an hour, which is longer than the longest form of a test. */
export const signal = AbortSignal.timeout(3_600_000)
export const options = { signal, isEmbedded: true }
const address = { contactName: 'John Smith', addressLine1: '1 High St', city: 'Melbourne', country: 'Australia' }

/** Returns the steps of stock tests in Tillbridge, for a service that is connected to any platform. */
export function openStockSteps(api: TestApi, shop: Caller) {
  const sync = (name: PlatformSyncName, mode = {}) => runPlatformSync(api.db, api.keys, shop.service, name, log, mode)
  const reconcile = async () =>
    (await reconcileStock(api.db, api.keys, shop.service, log, options)) ?? assert.fail('no reconciliation')
  const push = async () => (await pushStock(api.db, api.keys, shop.service, log, options)).state
  const setStock = (skuId: string, freeStock: number, storeId = '1001') =>
    upsertStock(api.db, shop.service, [{ storeId, skuId, freeStock }])
  async function placeOrder(sku: string, quantity: number, ecommerceOrderId?: number | string) {
    const response = await post(
      shop,
      '/orders',
      {
        customerId: '65432',
        billingAddress: address,
        deliveryAddress: address,
        pickupStoreNumber: '101',
        lines: [{ sku, quantity }],
        payments: [{ gateway: 'paypal', amount: (52 * quantity).toFixed(2) }],
        ...(ecommerceOrderId !== undefined && { ecommerceOrderId: String(ecommerceOrderId) }),
      },
      withKey(randomUUID()),
    )
    assert.equal(response.status, 201, response.text)
    return response.json.data.id as string
  }
  /** Reads the committed units of an order. Returns the number of orders that have committed units. */
  async function confirmOrder(orderId: string) {
    const { platform } = (await openPlatform(api.db, api.keys, shop.service, log)) ?? assert.fail()
    return confirmOrders(api.db, shop.service, platform.inventory, [orderId], signal)
  }
  /** Ages all quantities by an hour, because reconciliation skips levels that changed in the last minute. */
  const ageQuantities = () =>
    api.db.run(
      sql`update ecommerce_level set known_at = known_at - interval '1 hour' where service_id = ${shop.service.id}`,
    )
  /** Runs the hourly check of the connection. */
  const runHourlyCheck = () =>
    checkEcommerceConnection({
      db: api.db,
      keys: api.keys,
      log,
      service: shop.service,
      signal,
      reschedule() {},
    } as unknown as Parameters<typeof checkEcommerceConnection>[0])
  return { sync, reconcile, push, setStock, placeOrder, confirmOrder, ageQuantities, runHourlyCheck }
}

export type StockSteps = ReturnType<typeof openStockSteps>
export type ConnectedShop = Awaited<ReturnType<typeof connectShop>>

/** Connects a service to a simulated shop. Two stores and three SKUs are mapped, and the shop is synced and reconciled once. */
export async function connectShop(api: TestApi, simulator: ShopifySimulator) {
  simulator.reset()
  const shop = await createUnmappedShop(api, { fulfilment: 'manual' })
  await upsertGateways(api.db, shop.service, [{ name: 'paypal' }])
  const steps = openStockSteps(api, shop)
  /** Location IDs of stores 1001 and 1002. */
  const locations = [...simulator.shop.locations.keys()] as [number, number]
  /** Inventory item IDs by SKU. */
  const items: Record<string, number> = {}

  /** Adds a variant that is stocked at both locations. Returns its inventory item ID. */
  function addVariant(sku: string, units: number): number {
    const id = simulator.change({ kind: 'variant', sku })
    const itemId = simulator.shop.variants.get(id)?.itemId ?? assert.fail()
    for (const locationId of locations) simulator.change({ kind: 'count', itemId, locationId, available: units })
    return itemId
  }

  const connect = (settings: Partial<ConnectionSettings>) =>
    api.db.transaction(tx =>
      setConnection(
        tx,
        api.keys,
        shop.service,
        { ...defaultConnection, url: simulator.url, clientId: simulator.settings.clientId, ...settings },
        simulator.settings.clientSecret,
      ),
    )
  const getLevel = (sku: string, at = 0) =>
    findLevel(simulator.shop, items[sku] ?? 0, locations[at] ?? 0) ?? assert.fail(`${sku} has no level`)
  const sell = (sku: string, quantity: number, at = 0) =>
    simulator.change({
      kind: 'sell',
      lines: [{ itemId: items[sku] ?? 0, locationId: locations[at] ?? 0, quantity }],
    })
  /** Asserts that the order has queued the job that reads its committed units, and does the work of the job. */
  async function refresh(orderId: number) {
    const queued = await api.db.rows(
      sql`select from job where service_id = ${shop.service.id} and name = 'refresh-commitments' and subject = ${String(orderId)}`,
    )
    assert.equal(queued.length, 1)
    return steps.confirmOrder(String(orderId))
  }
  for (const sku of ['12001', '12002', '12003']) items[sku] = addVariant(sku, 3)
  for (const [at, storeId] of ['1001', '1002'].entries())
    await put(shop, `/mappings/stores/${storeId}`, { ecommerceLocationId: String(locations[at]) })
  await connect({ stockPush: 'on' })
  await steps.sync('ecommerce-locations')
  await steps.sync('ecommerce-variants')
  await steps.reconcile()
  return { ...steps, shop, locations, items, addVariant, connect, getLevel, sell, refresh }
}
