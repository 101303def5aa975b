import { advanceReturn } from '../../src/backoffice/embedded/returns.ts'
import type { Database } from '../../src/database/db.ts'
import { sql } from '../../src/database/db.ts'
import type { Service, Settings } from '../../src/domain/tenancy/service-settings.ts'
import { upsertProducts } from '../../src/store/catalog/products.ts'
import { upsertStores } from '../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { upsertStock } from '../../src/store/inventory/stock.ts'
import { beginChange } from '../../src/store/lists/change-timestamp.ts'
import { writeShipments } from '../../src/store/orders/shipments.ts'
import { upsertPrograms, upsertRewardAccounts } from '../../src/store/rewards/rewards.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { type Caller, startTestApi, type TestApi, type TestResponse } from './service.ts'
import { post } from './write.ts'

const prices: Record<string, string> = {
  'HOOD-S': '29.99',
  'HOOD-M': '33.33',
  TEE: '10.00',
  UNKEPT: '5.00',
  '85049a': '1.25',
  '85049A': '2.50',
}

/** Fills a small shop: two stores, of which 102 has more hoodies, one item without stock, and two SKUs that differ only in case. */
export async function fillShop(db: Database, service: Service) {
  await upsertStores(db, service, [
    { storeId: '1001', storeNumber: '101', name: 'Collins Street' },
    { storeId: '1002', storeNumber: '102', name: 'Warehouse' },
  ])
  await upsertProducts(
    db,
    service,
    Object.entries(prices).map(([sku, price]) => ({
      product: { productId: `p-${sku}`, productCode: `C-${sku}`, name: `Style ${sku}` },
      colour: { productId: `p-${sku}`, colourId: 'BLK', code: 'BLK', name: 'Black' },
      variant: { skuId: `id-${sku}`, productId: `p-${sku}`, colourId: 'BLK', sku, sizeCode: 'S', price },
    })),
  )
  await upsertStock(db, service, [
    { storeId: '1001', skuId: 'id-HOOD-S', freeStock: 10 },
    { storeId: '1002', skuId: 'id-HOOD-S', freeStock: 30 },
    { storeId: '1001', skuId: 'id-HOOD-M', freeStock: 4 },
    { storeId: '1002', skuId: 'id-TEE', freeStock: 5 },
  ])
  await upsertCustomers(db, service, [
    { id: '65432', firstname: 'John', surname: 'Smith', email: 'john@example.com' },
    { id: '65433', firstname: 'Jane', surname: 'Smith', email: 'jane@example.com' },
  ])
  await upsertGateways(db, service, [{ name: 'paypal' }, { name: 'visa' }])
}

export interface OrderShop {
  api: TestApi
  /** Creates another shop, whose stock no other test changes. */
  createShop(settings?: Partial<Settings>): Promise<Caller>
}

/** Starts the API with a filled shop and a maintainer account. */
export async function startOrderShop(): Promise<OrderShop> {
  const settings = {
    currency: 'AUD',
    timeZone: 'Australia/Melbourne',
    writesPerMinute: 'off',
    readsPerMinute: 'off',
    // The shop also sells an item without stock.
    oversell: 'allow',
  } as const
  const api = await startTestApi({ settings, role: 'maintainer' })
  await fillShop(api.db, api.service)
  return {
    api,
    async createShop(overrides = {}) {
      const caller = await api.createService({ ...settings, ...overrides })
      await fillShop(api.db, caller.service)
      return caller
    },
  }
}

/** Makes John Smith a member of a reward program in which he earns one point per dollar. */
export async function joinRewards({ db }: Pick<TestApi, 'db'>, { service }: Caller, rules: object = {}) {
  const earning = { accrualSpend: '1.00', accrualPoints: 1 }
  const tier = { programId: '1', tierId: '1', name: 'Base', sequence: 1, ...earning, ...rules }
  await upsertPrograms(db, service, [{ program: { programId: '1', name: 'Rewards' }, tier }])
  await upsertRewardAccounts(db, service, [{ id: '7', customerId: '65432', programId: '1', tierId: '1' }])
}

export const address = {
  addressLine1: '111 Collins St',
  addressLine2: 'Level 5',
  city: 'Melbourne',
  state: 'VIC',
  postcode: '3000',
  country: 'Australia',
}

export interface OrderLine {
  sku: string
  quantity: number
  price?: string
  discounts?: { type: string; amount: string; reason?: string; percentage?: string }[]
}

/** Formats cents as dollars. */
export const toDollars = (cents: number) => `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
export const toCents = (text: string) => Math.round(Number(text) * 100)

/** Builds the body of an order with these lines, paid in full. */
export function buildOrder(lines: OrderLine[], overrides: object = {}) {
  const due = lines.reduce((sum, { sku, quantity, discounts = [] }) => {
    const discount = discounts.reduce((total, { amount }) => total + toCents(amount), 0)
    return sum + toCents(prices[sku] ?? '0.00') * quantity - discount
  }, 0)
  return {
    customerId: '65432',
    billingAddress: address,
    deliveryAddress: address,
    lines,
    payments: [{ gateway: 'paypal', amount: toDollars(due), reference: 'PAYID-1' }],
    ...overrides,
  }
}

/** Builds the body of a return, from the quantity of each SKU. */
export const buildReturn = (units: Record<string, number>, overrides: object = {}) => ({
  lines: Object.entries(units).map(([sku, quantity]) => ({ sku, quantity, reasonCode: 'SIZE' })),
  ...overrides,
})

/** Creates a return with this quantity of each SKU. */
export const createReturn = (
  caller: Caller,
  orderId: string,
  units: Record<string, number>,
  overrides: object = {},
  headers: Record<string, string> = {},
) => post(caller, `/orders/${orderId}/returns`, buildReturn(units, overrides), headers)

export const cancelReturn = ({ db }: Pick<TestApi, 'db'>, { service }: Caller, returnNumber: string) =>
  db.transaction(tx => advanceReturn(tx, service, { number: returnNumber }, 'cancel'))

/** Stores a shipment of the first line of an order. Returns its ID. */
export async function addShipment(
  { db }: Pick<TestApi, 'db'>,
  { service }: Pick<Caller, 'service'>,
  orderId: string,
): Promise<string> {
  await db.transaction(async tx => {
    const change = await beginChange(tx, service, ['shipment'])
    const lines = [{ orderSequence: 1, sku: 'TEE', quantity: 1 }]
    const tracking = { carrier: 'EMS', trackingNumber: 'EM1', trackingUrl: null, shippedAt: null }
    await writeShipments(tx, service, change, { id: orderId }, [{ key: 'EM1', ...tracking, lines, cartons: [] }])
  })
  const row = await db.row<{ id: string }>(
    sql`select id from shipment where service_id = ${service.id} and order_id = ${orderId}`,
  )
  return row?.id ?? ''
}

/** Returns the lines of an order that can still be returned. */
export const getReturnable = async (caller: Caller, orderId: string) =>
  (await caller.get(`/orders/${orderId}/returnable`)).json.data

/** Places an order. Returns its record. Fails if the order is rejected. */
export async function placeOrder(caller: Caller, lines: OrderLine[], overrides: object = {}) {
  return getCreatedRecord(await post(caller, '/orders', buildOrder(lines, overrides)))
}

/** Returns the created record. Throws if the status isn't 201. */
export function getCreatedRecord({ status, json, text }: TestResponse) {
  if (status !== 201) throw new Error(`${status} ${text}`)
  return json.data
}

/** Returns the units of each stock level that aren't allocated to an order, by `storeId sku`. */
export async function getStock(caller: Caller): Promise<Record<string, number>> {
  const { json } = await caller.get('/inventory')
  return Object.fromEntries(
    json.data.map((record: { storeId: string; sku: string; freeStock: number; allocated: number }) => [
      `${record.storeId} ${record.sku}`,
      record.freeStock - record.allocated,
    ]),
  )
}

/** Returns the retail transactions of an order, oldest change first. */
export async function getSales(caller: Caller, orderNumber: string) {
  const { json } = await caller.get('/orders/transactions/search?asc=true')
  return json.data.filter((record: { orderNumber: string | null }) => record.orderNumber === orderNumber)
}
