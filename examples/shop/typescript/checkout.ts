import { client } from './tillbridge.ts'

const { BASKET_ID } = process.env
if (!BASKET_ID) throw new Error('BASKET_ID must be set.')
const address = { addressLine1: '111 Collins St', city: 'Melbourne', postcode: '3000', country: 'Australia' }

// 1. Lock the voucher for 15 minutes. With the key, a repeated request returns the same lock.
const lock = await client.vouchers.lock(
  '9100001',
  { pin: '204816', amount: '10.00', lockSeconds: 900 },
  { idempotencyKey: `lock-${BASKET_ID}` },
)
if (!lock.validationId) throw new Error('The voucher is not locked.')

// 2. Take the rest of the payment with your payment provider. Then place the order.
const order = await client.orders.place(
  {
    customerId: '60001',
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku: 'LINDEN-CREW-OAT-M', quantity: 1 }],
    payments: [
      { gateway: 'gift-card', amount: '10.00', voucher: { number: '9100001', validationId: lock.validationId } },
      { gateway: 'paypal', amount: '109.95', reference: 'PAYID-1' },
    ],
  },
  { idempotencyKey: `basket-${BASKET_ID}` },
)
console.log(order.id, order.orderNumber, order.total)
