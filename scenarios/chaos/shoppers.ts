import type { Product } from '../../src/domain/catalog/products.ts'
import type { Customer } from '../../src/domain/customers/customers.ts'
import type { Order } from '../../src/domain/orders/orders.ts'
import type { Return } from '../../src/domain/orders/returns.ts'
import type { IssuedVoucher, ValidatedVoucher, Voucher } from '../../src/domain/vouchers/vouchers.ts'
import { address, money } from '../support/paying.ts'
import type { Random } from '../support/random.ts'
import type { Client, Settled } from './client.ts'

/** What each kind of write makes, or changes. */
interface Written {
  customer: Customer
  change: Customer
  order: Order
  voucherOrder: Order
  return: Return
  voucher: IssuedVoucher
  lock: Voucher
}

export type Kind = keyof Written

/** One write and what it came to. */
export interface Deed<K extends Kind = Kind> {
  kind: K
  key: string
  answer: Settled<Written[K]>
}

interface Line {
  sku: string
  quantity: number
}

/** What the shoppers share: what there is to buy, and what was acknowledged so far. */
export interface Shop {
  skus: { sku: string; price: string }[]
  customers: string[]
  orders: { id: string; lines: Line[] }[]
  vouchers: { number: string; pin: string }[]
  /** What was used of each voucher before, in cents, where a back office knows. */
  usedBefore: Map<string, number>
  /** Has an order sent out, where somebody has to do that. */
  ship(order: string): Promise<unknown>
  deeds: Deed[]
  /** Writes that nothing has settled, with why. */
  unsettled: string[]
}

/** What is on offer, and who buys, as the API itself lists it. */
export async function readShop(client: Client): Promise<Shop> {
  const products = await client.list<Product>('/products?limit=20')
  const customers = await client.list<Customer>('/customers/search?limit=40')
  return {
    skus: products.data
      .flatMap(({ colours }) => colours.flatMap(({ sizes }) => sizes))
      .map(({ ecommerceSku, price }) => ({ sku: ecommerceSku, price }))
      .filter(({ price }) => Number(price) > 0),
    customers: customers.data.map(({ id }) => id),
    orders: [],
    vouchers: [],
    usedBefore: new Map(),
    ship: async () => {},
    deeds: [],
    unsettled: [],
  }
}

/** One shopper: does one thing after another until it is told that it is over. */
export async function shop(name: string, client: Client, random: Random, shared: Shop, isOver: () => boolean) {
  let count = 0
  /** The record that was written, where it was. */
  const write = async <K extends Kind>(
    kind: K,
    method: 'POST' | 'PUT',
    path: string,
    body: object,
    key = nextKey(),
  ): Promise<Written[K] | undefined> => {
    const answer = await client.ask<Written[K]>({ method, path, body, key }).catch((error: Error) => {
      shared.unsettled.push(`${key}: ${error.message}`)
    })
    if (!answer) return
    shared.deeds.push({ kind, key, answer })
    // Now and then an answer is not believed, and asked for again.
    if (answer.status < 300 && kind !== 'change' && random.chance(0.1)) {
      const again = await client.ask({ method, path, body, key })
      if (again.text !== answer.text)
        throw new Error(`${method} ${path} with the key ${key} was answered twice, and differently.`)
    }
    return answer.data
  }
  const nextKey = () => `${name}-${++count}`
  const basket = () => {
    const lines = Array.from({ length: random.whole(1, 3) }, () => ({
      ...random.pick(shared.skus),
      quantity: random.whole(1, 4),
    }))
    const different = [...new Map(lines.map(line => [line.sku, line])).values()]
    const due = different.reduce((sum, { price, quantity }) => sum + Math.round(Number(price) * 100) * quantity, 0)
    return { lines: different.map(({ sku, quantity }) => ({ sku, quantity })), due }
  }
  const order = async (kind: 'order' | 'voucherOrder', lines: Line[], payments: object[], key: string) => {
    const customerId = random.pick(shared.customers)
    const body = { customerId, billingAddress: address, deliveryAddress: address, lines, payments }
    const placed = await write(kind, 'POST', '/orders', body, key)
    if (!placed) return
    await shared.ship(placed.id)
    shared.orders.push({ id: placed.id, lines })
  }

  const acts: (() => Promise<unknown>)[] = [
    async () => {
      const key = nextKey()
      const body = { firstname: 'Chaos', surname: key, contact: { email: `${key}@example.com` } }
      const made = await write('customer', 'POST', '/customers', body, key)
      if (made) shared.customers.push(made.id)
    },
    () => write('change', 'PUT', `/customers/${random.pick(shared.customers)}`, { title: `T${random.whole(1, 99)}` }),
    async () => {
      const key = nextKey()
      const { lines, due } = basket()
      await order('order', lines, [{ gateway: 'card', amount: money(due), reference: key }], key)
    },
    async () => {
      const voucher = shared.vouchers.length ? random.pick(shared.vouchers) : undefined
      if (!voucher) return
      const key = nextKey()
      const { lines, due } = basket()
      const part = random.whole(100, Math.min(due, 3_000))
      const validated = await client.ask<ValidatedVoucher>({
        method: 'POST',
        path: '/vouchers/validate',
        body: { ...voucher, amount: money(part) },
      })
      if (!validated.data) return
      const { validationId } = validated.data
      if (random.chance(0.7))
        await write('lock', 'PUT', `/vouchers/${voucher.number}/lock`, { validationId, lockSeconds: 2 })
      const rest = due > part ? [{ gateway: 'card', amount: money(due - part) }] : []
      const paid = {
        gateway: 'gift-card',
        amount: money(part),
        reference: key,
        voucher: { number: voucher.number, validationId },
      }
      await order('voucherOrder', lines, [paid, ...rest], key)
    },
    async () => {
      const original = shared.orders.length ? random.pick(shared.orders) : undefined
      if (!original) return
      const { sku, quantity } = random.pick(original.lines)
      const lines = [{ sku, quantity: random.whole(1, quantity), reasonCode: 'SIZE' }]
      await write('return', 'POST', `/orders/${original.id}/returns`, { lines })
    },
    async () => {
      const key = nextKey()
      const body = {
        amount: money(random.whole(1_000, 20_000)),
        gateway: 'card',
        subject: key,
        orderNumber: key,
        message: 'Enjoy!',
        receiverName: 'Ann Shopper',
        receiverEmail: 'ann@example.com',
        senderName: 'Bo',
        billingAddress: address,
      }
      const issued = await write('voucher', 'POST', '/vouchers', body, key)
      if (issued?.number && issued.pin) shared.vouchers.push({ number: issued.number, pin: issued.pin })
    },
  ]
  while (!isOver()) await random.pick(acts)()
}

/** A client that follows the customers by `asOf`, and has to see every one that was made. */
export async function follow(client: Client, isOver: () => boolean): Promise<Set<string>> {
  const seen = new Set<string>()
  let asOf = ''
  for (let last = false; ; ) {
    last = isOver()
    const since = asOf && `&updated_after=${encodeURIComponent(asOf)}`
    for (let cursor = '', more = true; more; ) {
      const { data, meta } = await client.list<Customer>(`/customers/search?limit=100${since}${cursor}`)
      for (const { id } of data) seen.add(id)
      more = meta.hasNextPage
      cursor = `&after_cursor=${meta.endCursor}`
      asOf = meta.asOf
    }
    if (last) return seen
  }
}
