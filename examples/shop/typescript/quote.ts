import { client } from './tillbridge.ts'

const { BASKET_ID } = process.env
if (!BASKET_ID) throw new Error('BASKET_ID must be set.')
const address = { addressLine1: '111 Collins St', city: 'Melbourne', postcode: '3000', country: 'Australia' }
const lines = [{ sku: 'LINDEN-CREW-OAT-M', quantity: 1 }]

// 1. Show the shopper the price of the cart.
const quote = await client.orders.quote({ customerId: '60002', lines, freight: '9.95' })
console.log(quote.total)

// 2. Take the payment with your payment provider. Then place the order at this price.
const order = await client.orders.place(
  {
    customerId: '60002',
    quoteId: quote.quoteId,
    billingAddress: address,
    deliveryAddress: address,
    lines,
    payments: [{ gateway: 'paypal', amount: quote.total, reference: 'PAYID-2' }],
  },
  { idempotencyKey: `quoted-${BASKET_ID}` },
)
console.log(order.orderNumber, order.total)
