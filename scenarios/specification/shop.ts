import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type Api, getData } from './api.ts'
import { buildOrder, fields, paths } from './names.ts'
import { readPages } from './read-pages.ts'
import { Untestable } from './untestable.ts'

// biome-ignore lint/suspicious/noExplicitAny: a statement reads what it expects
type ApiRecord = any

export interface Voucher {
  number: string
  pin: string
}

/** Records that statements need. Each is looked up or created when it is first needed. */
export interface Shop {
  /** Customers of the list, the first thousand. */
  customers(): Promise<ApiRecord[]>
  createCustomer(overrides?: object): Promise<ApiRecord>
  /** An order that was placed and shipped. */
  order(): Promise<ApiRecord>
  gateway(): Promise<string>
  returnReason(): Promise<string>
  /** A SKU with a price, without an order of this run. */
  otherSku(): Promise<string>
  /** The reward account of some customer. */
  rewards(): Promise<ApiRecord | undefined>
  /** A voucher with its PIN. */
  voucher(): Promise<Voucher>
}

interface ShopOptions {
  /** True if statements can write. */
  writes: boolean
  voucher: Voucher | undefined
  /** Ships an order. Undefined if orders ship automatically. */
  ship: ((orderId: string) => Promise<void>) | undefined
}

export const createNames = () => ({
  firstname: 'Trial',
  surname: 'Shopper',
  contact: { email: `trial-${randomBytes(6).toString('hex')}@example.com` },
})

export function createShop(api: Api, { writes, voucher, ship }: ShopOptions): Shop {
  const memoize = <T>(find: () => Promise<T>) => {
    let result: Promise<T> | undefined
    return () => {
      result ??= find()
      return result
    }
  }
  const customers = memoize(() => readPages(api, '/customers/search', {}, 10))
  const findPricedSizes = memoize(async () => {
    const products: ApiRecord[] = getData(await api.get(paths.products))
    const sizes = products.flatMap(({ colours }) => colours.flatMap((colour: ApiRecord) => colour.sizes.slice(0, 1)))
    const pricedSizes = sizes.filter(({ price }) => Number(price) > 0)
    assert.ok(pricedSizes.length > 1, 'fewer than two products have a price')
    return pricedSizes
  })
  const gateway = memoize(async () => {
    const [first] = getData(await api.get(paths.gateways))
    if (first === undefined) throw new Untestable('there is no payment gateway')
    return first
  })
  function requireWrites() {
    if (!writes) throw new Untestable('it needs writes: use --writes')
  }
  const createCustomer = async (overrides: object = {}) => {
    requireWrites()
    return getData(await api.post(paths.customers, { ...createNames(), ...overrides }))
  }
  return {
    customers,
    createCustomer,
    gateway,
    order: memoize(async () => {
      const [{ ecommerceSku, price }] = await findPricedSizes()
      const { id } = await createCustomer()
      const order = getData(await api.post(paths.orders, buildOrder(id, ecommerceSku, price, await gateway())))
      await ship?.(order.id)
      return order
    }),
    returnReason: memoize(async () => getData(await api.get(paths.returnReasons))[0]?.code),
    rewards: memoize(async () => {
      const members = (await customers()).filter(customer => customer[fields.loyalty[1] ?? ''])
      for (const { id } of members.slice(0, 20)) {
        const response = await api.get(paths.rewardsPath(id))
        if (response.status === 200) return response.body.data
      }
      return undefined
    }),
    otherSku: async () => (await findPricedSizes())[1].ecommerceSku,
    voucher: async () => {
      if (!voucher) throw new Untestable('no voucher was named: use --voucher number:PIN')
      return voucher
    },
  }
}
