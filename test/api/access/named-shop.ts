import assert from 'node:assert/strict'
import type { Settings } from '../../../src/domain/tenancy/service-settings.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { createReturn, fillShop, placeOrder } from '../../support/order-shop.ts'
import type { TestApi } from '../../support/service.ts'
import { addVouchers, getValidationId, voucherSettings } from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

/** Creates a shop with one record of each type. Returns the IDs and names of these records by type. */
export async function createNamedShop(api: TestApi, more: Partial<Settings> = {}) {
  const caller = await api.createService({ ...voucherSettings, ...more })
  await fillShop(api.db, caller.service)
  await addVouchers(api, caller, { 'their-voucher': {} })
  const order = await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 2 }])
  const { json: returned } = await createReturn(caller, order.id, { 'HOOD-S': 1 })
  const { json: customer } = await post(caller, '/customers', buildCustomer({ firstname: 'Canary' }))
  const { json: hook } = await post(caller, '/webhooks', { url: 'https://127.0.0.1:1099/canary', kinds: ['store'] })
  const names = {
    customer: customer.data.id,
    email: customer.data.contact.email,
    store: '1001',
    storeNumber: '101',
    sku: 'HOOD-S',
    skuId: 'id-HOOD-S',
    product: 'p-HOOD-S',
    stock: '1001-id-HOOD-S',
    order: order.id,
    orderNumber: order.orderNumber,
    return: returned.data.id,
    returnNumber: returned.data.returnNumber,
    voucher: 'their-voucher',
    validation: await getValidationId(caller, 'their-voucher'),
    webhook: hook.data.id,
    username: caller.username,
  }
  for (const [kind, name] of Object.entries(names)) assert.equal(typeof name, 'string', kind)
  return { shop: caller, names }
}

/** Returns the ID for the parameter of a path. Returns undefined if the shop has no record of that type. */
export function findRecordId(
  path: string,
  names: Awaited<ReturnType<typeof createNamedShop>>['names'],
): string | undefined {
  const [, first = '', second = ''] = path.split('/')
  const { customer, order, store, skuId, product, stock, voucher, webhook, username } = names
  return {
    customers: customer,
    orders: order,
    returns: names.return,
    stores: store,
    products: product,
    inventory: stock,
    vouchers: voucher,
    webhooks: webhook,
    accounts: username,
    mappings: { stores: store, skus: skuId, customers: customer }[second],
  }[first]
}
