import { randomUUID } from 'node:crypto'
import { embedded } from '../src/backoffice/embedded/embedded.ts'
import type { Database } from '../src/db.ts'
import type { OrderInput } from '../src/domain/orders/orders.ts'
import { ApiError } from '../src/errors.ts'
import { inSteps } from '../src/http/once/carrying-out.ts'
import type { Keys } from '../src/secrets.ts'
import type { Service } from '../src/settings.ts'
import { productRows } from './records.ts'
import { clients, contendedVoucher, ownVouchers, pin, shoppers } from './write-shop.ts'
import type { Way } from './write-ways.ts'

/** Clients that want one voucher. */
export const contenders = 200

/** One kind of write, done by clients that each begin again as soon as they are done. */
export interface Kind {
  name: string
  clients: number
  /** What a client needs first; it is not timed. */
  prepare?(way: Way, client: number): Promise<void>
  write(way: Way, client: number): Promise<unknown>
}

const address = { addressLine1: '111 Collins St', city: 'Melbourne', postcode: '3000', country: 'Australia' }

/** The kinds of writes that are measured, of a shop as `openShop` makes it. */
export async function kindsFor(db: Database, keys: Keys, service: Service): Promise<Kind[]> {
  let counter = 0
  const skuOf = (number: number) => productRows[number % productRows.length]?.variant.sku ?? ''
  const orderOf = (sku: string, quantity: number): OrderInput => ({
    customerId: String(++counter % shoppers),
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku, quantity }],
    payments: [{ gateway: 'paypal', amount: `${52 * quantity}.00` }],
  })
  const held = new Map<string, string>()
  for (const number of [...ownVouchers, contendedVoucher]) held.set(number, await validate(db, keys, service, number))
  const lock = (way: Way, number = contendedVoucher) =>
    way.lockVoucher(number, { validationId: held.get(number) ?? '', lockSeconds: 3_600 })
  const bought: { id: string; sku: string; left: number }[] = []
  return [
    {
      name: 'create a customer',
      clients,
      write: way =>
        way.createCustomer({
          firstname: 'Ann',
          surname: 'Lee',
          contact: { email: `${randomUUID()}@example.com` },
          address,
        }),
    },
    { name: 'lock a voucher', clients, write: (way, client) => lock(way, ownVouchers[client]) },
    { name: 'lock one voucher', clients: contenders, write: way => lock(way) },
    {
      name: 'issue a voucher',
      clients,
      write: way =>
        way.issueVoucher({
          amount: '50.00',
          gateway: 'paypal',
          subject: 'A gift for you',
          billingAddress: address,
          receiverName: 'Ann Lee',
          receiverEmail: 'ann.lee@example.com',
          senderName: 'John Smith',
        }),
    },
    { name: 'place an order', clients, write: way => way.placeOrder(orderOf(skuOf(counter), 1)) },
    {
      name: 'return of an order',
      clients,
      async prepare(way, client) {
        if (bought[client]?.left) return
        const sku = skuOf(client)
        const left = 10
        bought[client] = { id: JSON.parse(await way.placeOrder(orderOf(sku, left))).id, sku, left }
      },
      async write(way, client) {
        const order = bought[client]
        if (!order) return
        order.left--
        await way.createReturn(order.id, { lines: [{ sku: order.sku, quantity: 1, reasonCode: 'SIZE' }] })
      },
    },
  ]
}

async function validate(db: Database, keys: Keys, service: Service, number: string) {
  const found = await inSteps({ db, keys }, service, ({ step }) =>
    embedded(service).validateVoucher(
      { step, keys, service, origin: { address: '127.0.0.1' }, isTrial: false },
      { number, pin, amount: '150.00' },
    ),
  )
  if (found instanceof ApiError) throw found
  return found.validationId
}
