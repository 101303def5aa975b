import assert from 'node:assert/strict'
import { sql } from '../../../src/database/db.ts'
import { raiseAlert } from '../../../src/store/alerts/alerts.ts'
import type { TestApi, TestResponse } from '../service.ts'
import type { Receiver } from '../webhooks/receiver.ts'
import { post, put } from '../write.ts'
import { createPlatformConnection, createPlatformItems } from './platform.ts'
import { logSampleRequests } from './request-log.ts'

const gift = {
  amount: '150.00',
  receiverName: 'Ann Lee',
  receiverEmail: 'ann.lee@exmaple.com',
  senderName: 'John Smith',
  subject: 'A gift for you',
  billingAddress: { addressLine1: '111 Collins St', city: 'Melbourne', country: 'Australia' },
}
const address = { contactName: 'Ann Lee', ...gift.billingAddress }

const expectSuccess = ({ status, text, json }: TestResponse) => {
  assert.ok(status < 300, text)
  return json.data
}

/** IDs of sample records that have a screen. */
export interface SampleData {
  customer: string
  sku: string
  voucher: string
  /** A request that placed an order in a back office. */
  request: string
  webhook: string
  /** A comparison of stock with the platform. */
  reconciliation: string
}

/** Returns the routes of the screens of sample records. Some have no link. */
export const listRecordRoutes = ({ customer, sku, voucher, request, webhook, reconciliation }: SampleData) => [
  'syncs/stock',
  `search/customer/${customer}`,
  `search/product/${encodeURIComponent(`sku:${sku}`)}`,
  `search/voucher/${voucher}`,
  `requests/${request}`,
  `webhooks/${webhook}`,
  `ecommerce/reconciliations/${reconciliation}`,
]

/** Creates records in a demo shop, so that each screen of the console has content. */
export async function createSampleData(api: TestApi, receiver: Receiver): Promise<SampleData> {
  const { db, service } = api
  const read = async (path: string) => (await api.get(path)).json.data
  const sales: { customerId: string | null }[] = await read('/orders/transactions/search?limit=100')
  const customerId = sales.find(sale => sale.customerId)?.customerId ?? ''
  const [{ sku }] = (await read('/inventory?limit=100')).filter((level: { sellable: number }) => level.sellable > 4)

  const endpoint = { kinds: ['inventory', 'product'], description: 'Stock of the web shop' }
  const webhook = expectSuccess(
    await post(api, '/webhooks', { url: new URL('/stock', receiver.url).href, ...endpoint }),
  )
  const mailing = { kinds: ['customer'], description: 'Customers of the mailing tool' }
  await post(api, '/webhooks', { url: new URL('/crm', receiver.url).href, ...mailing })
  await post(api, `/webhooks/${webhook.id}/test`, {})

  // Runs of imported files.
  await db.run(sql`
    insert into sync_run (service_id, sync, changed_at, ended_at, origin, is_full, read, inserted, changed, rejected)
    select ${service.id}, 'stock', at, at + (40 + n * 7 % 50) * interval '1 second', 'file', n % 8 = 0, 4000 + n * 173 % 900, n % 3, 200 + n * 41 % 300, n % 5 / 4
      from generate_series(1, 24) n, lateral (select now() - (n * 15 + n * n % 7) * interval '1 minute' as at) start`)
  await raiseAlert(db, service.id, {
    kind: 'export_file_rejected',
    subject: 'stock.csv',
    detail: '3 of 4,120 lines of stock.csv name a store that is not known.',
  })
  const order = await placeOrders(api, customerId, sku)
  const request = await logSampleRequests(api, `/orders/${order}`, `/customers/${customerId}`)
  const voucher = await issueVoucher(api)
  // Events for a customer's timeline.
  await put(api, `/customers/${customerId}`, { smsSubscription: true, mobile: '+61 491 570 006' })
  const { contact } = await read(`/customers/${customerId}`)
  expectSuccess(await post(api, '/vouchers', { ...gift, receiverEmail: contact.email }))
  await createPlatformItems(api)
  // The issues with another reason are accepted as a batch.
  const issues: { id: string; suggestion: string; evidence: { reason: string }[] }[] = await read(
    '/mappings/issues/skus?state=nearMatch',
  )
  const issue = issues.find(({ evidence }) => evidence[0]?.reason === 'barcode')
  assert.ok(issue)
  expectSuccess(await post(api, '/mappings/fixes', { kind: 'skus', id: issue.id, to: issue.suggestion }))
  expectSuccess(await post(api, '/console/mappings/batches', { kind: 'skus', reason: 'whitespace' }))
  const key = { name: 'web-shop', scopes: ['orders:read', 'orders:write'], expiresInDays: 90 }
  expectSuccess(await post(api, `/accounts/${api.username}/keys`, key))
  const reconciliation = await createPlatformConnection(api)
  return { customer: customerId, sku, voucher, request, webhook: webhook.id, reconciliation }
}

/** Places two orders and returns an item of the second one. Returns the second order's ID. */
async function placeOrders(api: TestApi, customerId: string, sku: string): Promise<string> {
  const [product] = (await api.get(`/products?sku=${encodeURIComponent(sku)}`)).json.data
  const sizes = product.colours.flatMap((colour: { sizes: unknown[] }) => colour.sizes)
  const { price } = sizes.find((size: { ecommerceSku: string }) => size.ecommerceSku === sku)
  const order = {
    customerId,
    lines: [{ sku, quantity: 1, price, discounts: [] }],
    billingAddress: address,
    deliveryAddress: address,
    freight: '0.00',
    payments: [{ gateway: 'paypal', amount: price }],
  }
  expectSuccess(await post(api, '/orders', { ...order, orderNumber: 'W0104711' }))
  const { id } = expectSuccess(await post(api, '/orders', { ...order, orderNumber: 'W0104712' }))
  expectSuccess(await post(api, `/orders/${id}/returns`, { lines: [{ sku, reasonCode: 'SIZE' }] }))
  return id
}

/** Issues a voucher whose email was rejected and then resent to another address. Returns its number. */
async function issueVoucher(api: TestApi): Promise<string> {
  const { number } = expectSuccess(await post(api, '/vouchers', gift))
  await api.db.run(sql`
    update email set status = 'failed', attempts = 1, last_error = 'The mail server rejected the message: 550 5.1.2 at RCPT TO.'
     where voucher_number = ${number}`)
  await post(api, `/vouchers/${number}/resend`, { receiverEmail: 'ann.lee@example.com' })
  await api.db.run(sql`
    update email set status = 'sent', attempts = 1, encrypted_content = null, sent_at = now() where voucher_number = ${number} and status = 'queued'`)
  return number
}
