import { randomUUID } from 'node:crypto'
import { productRows } from '../../scenarios/support/records.ts'
import type { OrderInput } from '../../src/domain/orders/orders.ts'
import type { Client } from './client.ts'
import { clients, contendedVoucher, contenders, ownVouchers, pin, shoppers } from './shop.ts'

/** One kind of write. Each client sends the next write as soon as it has a response. */
export interface Kind<Sender = Client> {
  name: string
  clients: number
  /** Prepares the next write of a client. Not timed. */
  prepare?(client: Sender, number: number): Promise<void>
  write(client: Sender, number: number): Promise<unknown>
}

const address = { addressLine1: '111 Collins St', city: 'Melbourne', postcode: '3000', country: 'Australia' }

let counter = 0
/** Returns a SKU that isn't the gift card, which is the first product row. */
export const findSku = (number: number) => productRows[1 + (number % (productRows.length - 1))]?.variant.sku ?? ''

function buildOrder(skus: readonly string[], quantity = 1): OrderInput {
  const lines = skus.map(sku => ({ sku, quantity }))
  return {
    customerId: String(++counter % shoppers),
    billingAddress: address,
    deliveryAddress: address,
    lines,
    payments: [{ gateway: 'paypal', amount: `${52 * quantity * lines.length}.00` }],
  }
}

const placeOrder = (client: Client, order: OrderInput) => client.write<{ id: string }>('POST', '/orders', order)

/** Validates the vouchers of a shop. Returns a function that locks one by its client's number; by default, the contended one. */
export async function lockVouchers(client: Client) {
  const validationIds = new Map<string, string>()
  for (const number of [...ownVouchers, contendedVoucher])
    validationIds.set(
      number,
      (await client.write<{ validationId: string }>('POST', '/vouchers/validate', { number, pin, amount: '150.00' }))
        .validationId,
    )
  return (number?: number, sender = client) => {
    const voucher = (number === undefined ? undefined : ownVouchers[number]) ?? contendedVoucher
    return sender.write('PUT', `/vouchers/${voucher}/lock`, {
      validationId: validationIds.get(voucher),
      lockSeconds: 3_600,
    })
  }
}

/** Creates the measured kinds of writes for a shop of `openShop`. */
export async function createKinds(client: Client): Promise<Kind[]> {
  const lock = await lockVouchers(client)
  const ordersOfClients: { id: string; sku: string; remaining: number }[] = []
  return [
    {
      name: 'new customer',
      clients,
      write: sender =>
        sender.write('POST', '/customers', {
          firstname: 'Ann',
          surname: 'Lee',
          contact: { email: `${randomUUID()}@example.com` },
          address,
        }),
    },
    { name: 'lock of a voucher', clients, write: (sender, number) => lock(number, sender) },
    { name: 'lock of one voucher', clients: contenders, write: sender => lock(undefined, sender) },
    {
      name: 'voucher issued',
      clients,
      write: sender =>
        sender.write('POST', '/vouchers', {
          amount: '50.00',
          gateway: 'paypal',
          subject: 'A gift for you',
          billingAddress: address,
          receiverName: 'Ann Lee',
          receiverEmail: 'ann.lee@example.com',
          senderName: 'John Smith',
        }),
    },
    {
      name: 'order of three lines',
      clients,
      write: sender => placeOrder(sender, buildOrder([1, 2, 3].map(index => findSku(3 * counter + index)))),
    },
    {
      name: 'return',
      clients,
      async prepare(sender, number) {
        if (ordersOfClients[number]?.remaining) return
        const sku = findSku(number)
        const remaining = 10
        ordersOfClients[number] = { id: (await placeOrder(sender, buildOrder([sku], remaining))).id, sku, remaining }
      },
      async write(sender, number) {
        const order = ordersOfClients[number]
        if (!order) return
        order.remaining--
        await sender.write('POST', `/orders/${order.id}/returns`, {
          lines: [{ sku: order.sku, quantity: 1, reasonCode: 'SIZE' }],
        })
      },
    },
  ]
}
