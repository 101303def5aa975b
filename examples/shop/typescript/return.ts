import { client } from './tillbridge.ts'

const orderId = process.env.ORDER_ID ?? ''
const created = await client.orders.createReturn(
  orderId,
  { lines: [{ sku: 'LINDEN-CREW-OAT-M', quantity: 1, reasonCode: 'SIZE' }] },
  { idempotencyKey: `return-${orderId}` },
)
console.log(created.id, created.status)
