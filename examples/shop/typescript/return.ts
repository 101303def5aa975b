import { client } from './tillbridge.ts'

const { ORDER_ID: orderId } = process.env
if (!orderId) throw new Error('ORDER_ID must be set.')
const created = await client.orders.createReturn(
  orderId,
  { lines: [{ sku: 'LINDEN-CREW-OAT-M', quantity: 1, reasonCode: 'SIZE' }] },
  { idempotencyKey: `return-${orderId}` },
)
console.log(created.id, created.status)
