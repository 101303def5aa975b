import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type Api, dataOf } from './api.ts'
import { fields, orderOf, paths } from './names.ts'
import { NotTried } from './not-tried.ts'
import { pagination } from './paginate.ts'

// biome-ignore lint/suspicious/noExplicitAny: a statement reads what it expects
type Data = any

export interface Voucher {
  number: string
  pin: string
}

/** Records that statements need. They are found or created at the first request. */
export interface Shop {
  /** Customers of the list, the first thousand. */
  customers(): Promise<Data[]>
  newCustomer(more?: object): Promise<Data>
  /** An order that was placed, and shipped. */
  order(): Promise<Data>
  gateway(): Promise<string>
  returnReason(): Promise<string>
  /** A SKU with a price, without an order of this run. */
  otherSku(): Promise<string>
  /** The reward account of some customer. */
  rewards(): Promise<Data | undefined>
  /** A voucher that opens with its PIN. */
  voucher(): Promise<Voucher>
}

interface Means {
  /** True if statements can write. */
  writes: boolean
  voucher: Voucher | undefined
  /** Ships an order. Undefined if orders ship automatically. */
  ship: ((orderId: string) => Promise<void>) | undefined
}

export const names = () => ({
  firstname: 'Trial',
  surname: 'Shopper',
  contact: { email: `trial-${randomBytes(6).toString('hex')}@example.com` },
})

export function shopOf(api: Api, { writes, voucher, ship }: Means): Shop {
  const once = <T>(find: () => Promise<T>) => {
    let result: Promise<T> | undefined
    return () => {
      result ??= find()
      return result
    }
  }
  const customers = once(() => pagination(api, '/customers/search', {}, 10))
  const sold = once(async () => {
    const products: Data[] = dataOf(await api.get(paths.products))
    const sizes = products.flatMap(({ colours }) => colours.flatMap((colour: Data) => colour.sizes.slice(0, 1)))
    const priced = sizes.filter(({ price }) => Number(price) > 0)
    assert.ok(priced.length > 1, 'there are products with a price')
    return priced
  })
  const gateway = once(async () => {
    const [first] = dataOf(await api.get(paths.gateways))
    if (first === undefined) throw new NotTried('there is no payment gateway')
    return first
  })
  function mayWrite() {
    if (!writes) throw new NotTried('it takes a write: --writes')
  }
  const newCustomer = async (more: object = {}) => {
    mayWrite()
    return dataOf(await api.post(paths.customers, { ...names(), ...more }))
  }
  return {
    customers,
    newCustomer,
    gateway,
    order: once(async () => {
      const [{ ecommerceSku, price }] = await sold()
      const { id } = await newCustomer()
      const order = dataOf(await api.post(paths.orders, orderOf(id, ecommerceSku, price, await gateway())))
      await ship?.(order.id)
      return order
    }),
    returnReason: once(async () => dataOf(await api.get(paths.returnReasons))[0]?.code),
    rewards: once(async () => {
      const members = (await customers()).filter(customer => customer[fields.loyalty[1] ?? ''])
      for (const { id } of members.slice(0, 20)) {
        const response = await api.get(paths.rewardsOf(id))
        if (response.status === 200) return response.body.data
      }
      return undefined
    }),
    otherSku: async () => (await sold())[1].ecommerceSku,
    voucher: async () => {
      if (!voucher) throw new NotTried('no voucher is known: --voucher number:PIN')
      return voucher
    },
  }
}
