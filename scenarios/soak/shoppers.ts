import type { Product } from '../../src/domain/catalog/products.ts'
import type { ValidatedVoucher } from '../../src/domain/vouchers/vouchers.ts'
import type { Asked } from '../support/asking.ts'
import { address, money } from '../support/paying.ts'
import type { Random } from '../support/random.ts'
import { type Client, gone, type Settled } from './client.ts'

export const kinds = ['customer', 'change', 'order', 'return', 'sale', 'lock'] as const
export type Kind = (typeof kinds)[number]

/** One write and what it came to. `key` stands in what it makes at the back office, too. */
export interface Deed extends Asked {
  kind: Kind
  key: string
  answer: Settled<Made>
}

/** What is asked of what was made; an order number where it is an order or a voucher's sale, number and PIN where a voucher is there at once. */
export interface Made {
  id: string
  orderNumber: string
  number?: string
  pin?: string
}

export interface Customer {
  id: string
  email: string
}

interface Placed {
  id: string
  lines: { sku: string; quantity: number }[]
}

export interface Voucher {
  number: string
  pin: string
}

/** What the shoppers share. */
export interface Shared {
  deeds: Deed[]
  /** The keys of what was acknowledged. */
  settled: Set<string>
  /** Vouchers that somebody has in hand; those that were sold come by e-mail. */
  vouchers: () => readonly Voucher[]
  /** Answers that contradict an earlier one. */
  contradictions: string[]
}

const phone = (random: Random) => `04${random.whole(10_000_000, 99_999_999)}`

/** One shopper, with customers of their own: does one thing after another until it is told that it is over. */
export async function shop(
  name: string,
  client: Client,
  random: Random,
  own: Customer[],
  shared: Shared,
  isOver: () => boolean,
) {
  let count = 0
  const nextKey = () => `${name}-${++count}`
  const placed: Placed[] = []

  async function write(kind: Kind, asked: Asked & { key: string }, isKeyed = true): Promise<Settled<Made>> {
    const sent = { ...asked, key: isKeyed ? asked.key : undefined }
    // Now and then somebody clicks twice.
    const both = await Promise.all([
      client.ask<Made>(sent, isKeyed),
      isKeyed && random.chance(0.08) ? client.ask<Made>(sent, isKeyed) : undefined,
    ])
    // Refused at first, when there was nothing to return yet, it may be done a moment later; also where nobody waits for that any more.
    const [answer, twin] = both
    const settled = both.find(one => one && one.status < 300) ?? both.find(one => one?.status === gone) ?? answer
    shared.deeds.push({ ...asked, kind, answer: settled })
    if (settled.status >= 300) return settled
    shared.settled.add(asked.key)
    const third = isKeyed && random.chance(0.1) ? await client.ask(sent) : undefined
    for (const other of [settled === twin ? undefined : twin, third])
      if (other && other.status < 300 && JSON.stringify(other.json) !== JSON.stringify(settled.json))
        shared.contradictions.push(`${asked.key}: ${settled.status} and ${other.status}`)
    if (third && third.status >= 300)
      shared.contradictions.push(`${asked.key}: ${settled.status}, then ${third.status}`)
    return settled
  }
  const customer = () => (own.length ? random.pick(own) : undefined)
  /** Something to buy, at the price that the API tells. */
  async function basket() {
    const { json } = await client.ask<Product[]>({ method: 'GET', path: '/products?limit=100' })
    const sizes = (json.data ?? [])
      .flatMap(({ colours }) => colours.flatMap(colour => colour.sizes))
      .filter(({ skuId, price }) => skuId !== '9001' && Number(price) > 0)
    if (!sizes.length) return
    const lines = Array.from({ length: random.whole(1, 3) }, () => random.pick(sizes))
    const different = [...new Set(lines)].map(size => ({ ...size, quantity: random.whole(1, 3) }))
    const due = different.reduce((sum, { price, quantity }) => sum + Math.round(Number(price) * 100) * quantity, 0)
    return { due, lines: different.map(({ ecommerceSku, quantity }) => ({ sku: ecommerceSku, quantity })) }
  }
  async function order(key: string, lines: Placed['lines'], payments: object[]) {
    const who = customer()
    if (!who) return
    const addresses = { billingAddress: { ...address, addressLine2: key }, deliveryAddress: address }
    const number = random.chance(0.5) ? { orderNumber: `O${key}` } : {}
    const body = { customerId: who.id, ...addresses, ...number, lines, payments }
    const { status, json } = await write('order', { method: 'POST', path: '/orders', body, key })
    if (status === 201 && json.data) placed.push({ id: json.data.id, lines })
  }

  const acts: (() => Promise<unknown>)[] = [
    async () => {
      const key = nextKey()
      const email = `${key}@soak.test`
      const more = random.chance(0.5) ? { emailSubscription: true } : { privacy: random.chance(0.5) }
      const body = {
        firstname: 'Soak',
        surname: key,
        contact: { email, phones: { work: phone(random) } },
        address,
        ...more,
      }
      const { status, json } = await write('customer', { method: 'POST', path: '/customers', body, key })
      if (status === 201 && json.data) own.push({ id: json.data.id, email })
    },
    async () => {
      const who = customer()
      if (!who) return
      const more = [{}, { privacy: true }, { emailSubscription: true }, { smsSubscription: random.chance(0.5) }]
      const body = { contact: { phones: { work: `${phone(random)}${count}` } }, ...random.pick(more) }
      await write('change', { method: 'PUT', path: `/customers/${who.id}`, body, key: nextKey() }, false)
    },
    async () => {
      const bought = await basket()
      const key = nextKey()
      if (bought) await order(key, bought.lines, [{ gateway: 'visa', amount: money(bought.due), reference: key }])
    },
    async () => {
      const voucher = shared.vouchers().length ? random.pick(shared.vouchers()) : undefined
      const bought = voucher && (await basket())
      if (!voucher || !bought) return
      const key = nextKey()
      const part = random.whole(100, Math.min(bought.due, 1_500))
      const amount = money(part)
      const body = { ...voucher, amount }
      const validated = await client.ask<ValidatedVoucher>({ method: 'POST', path: '/vouchers/validate', body })
      if (validated.status !== 200 || !validated.json.data) return
      const { validationId } = validated.json.data
      const lock = (lockSeconds: number) => {
        const asked = {
          method: 'PUT',
          path: `/vouchers/${voucher.number}/lock`,
          body: { validationId, lockSeconds },
        } as const
        return write('lock', { ...asked, key: nextKey() })
      }
      if (random.chance(0.6)) await lock(random.pick([1, 3, 30]))
      if (random.chance(0.2)) return lock(0)
      const rest = bought.due > part ? [{ gateway: 'visa', amount: money(bought.due - part) }] : []
      const paid = { gateway: 'gift-voucher', amount, voucher: { number: voucher.number, validationId } }
      return order(key, bought.lines, [paid, ...rest])
    },
    async () => {
      const original = placed.length ? random.pick(placed) : undefined
      if (!original) return
      const key = nextKey()
      const { sku, quantity } = random.pick(original.lines)
      // One unit too many now and then.
      const lines = [{ sku, quantity: random.whole(1, quantity + 1), reasonCode: 'SIZE', notes: key }]
      const number = random.chance(0.3) ? { returnNumber: `R${key}` } : {}
      const body = { ...number, lines, restock: random.chance(0.7) }
      await write('return', { method: 'POST', path: `/orders/${original.id}/returns`, body, key })
    },
    async () => {
      const key = nextKey()
      const body = {
        amount: money(random.whole(1_000, 9_000)),
        gateway: random.pick(['visa', 'paypal']),
        subject: key,
        receiverName: 'Ann Shopper',
        receiverEmail: `ann@${key}.test`,
        senderName: 'Bo',
        billingAddress: { ...address, addressLine2: key },
        message: 'Enjoy!',
        ...(random.chance(0.5) && { orderNumber: `V${key}` }),
      }
      await write('sale', { method: 'POST', path: '/vouchers', body, key })
    },
    // What cannot be, and must leave no trace.
    async () => {
      const key = nextKey()
      const bought = await basket()
      if (!bought) return
      const [first] = bought.lines
      const wrong = random.pick([
        () => order(key, [{ sku: 'NO-SUCH-SKU', quantity: 1 }], [{ gateway: 'visa', amount: '1.00' }]),
        () => order(key, bought.lines, [{ gateway: 'visa', amount: money(bought.due + 1) }]),
        () => order(key, first ? [first] : [], [{ gateway: 'nobody', amount: '1.00' }]),
      ])
      await wrong()
    },
  ]
  while (!isOver()) await random.pick(acts)()
}
