import type { Fetch, OrderInput, Product, Tillbridge } from '../../../client/src/index.ts'
import type { Random } from '../../../seed/random.ts'
import {
  abandoned,
  type Credentials,
  fetchFromAny,
  type Outcome,
  openClient,
  reconcile,
  type Target,
} from '../operations/client.ts'
import {
  type History,
  isAcknowledged,
  type Operation,
  type OperationType,
  type WrittenRecord,
} from '../operations/history.ts'
import { address, formatAmount } from '../operations/payment.ts'

export interface Customer {
  id: string
  email: string
}

export interface Voucher {
  number: string
  pin: string
}

interface Sku {
  sku: string
  price: string
}

interface Line {
  sku: string
  quantity: number
}

/** State that all shoppers of a run share. */
export interface ShopperContext {
  apis: readonly Target[]
  credentials: Credentials
  history: History
  /** Each shopper buys for any of these customers, but changes only its own. */
  customers: Customer[]
  orders: { id: string; lines: readonly Line[] }[]
  /** Returns the vouchers whose PINs the shoppers know. */
  vouchers(): readonly Voucher[]
  /** Payment gateways: one for cards, one for vouchers. */
  gateways: { card: string; voucher: string }
  /** Despatches an order at the back office, if it doesn't do that automatically. */
  ship(orderId: string): unknown
  /** Probability that a shopper abandons a write after an attempt that left its result open. */
  abandonChance: number
}

/** A client that repeats reads and writes until their outcome is final. */
export interface ShopperClient {
  api: Tillbridge
  repeatUntilFinal<T>(call: (api: Tillbridge) => Promise<T>, abandonChance?: number): Promise<Outcome<T>>
  /** Returns the result of a read. Throws if it fails. */
  read<T>(call: (api: Tillbridge) => Promise<T>): Promise<T>
}

/** Opens a client that hangs up on some responses, and reports every response to the history. */
export function openShopperClient(
  { apis, credentials, history }: Pick<ShopperContext, 'apis' | 'credentials' | 'history'>,
  random: Random,
): ShopperClient {
  const send = fetchFromAny(apis, random)
  const fetch: Fetch = async (url, init) => {
    const key = init.headers['idempotency-key']
    // Without a key, the server could apply an interrupted write after a later one, and undo it.
    const hangsUp = key !== undefined && random.chance(0.07)
    const signal = hangsUp ? AbortSignal.any([init.signal, AbortSignal.timeout(random.integer(1, 400))]) : init.signal
    const response = await send(url, { ...init, signal })
    return {
      status: response.status,
      headers: response.headers,
      async text() {
        const text = await response.text()
        if (key !== undefined && response.status < 300) history.recordResponse(key, text)
        return text
      },
    }
  }
  const api = openClient(apis, credentials, random, { fetch })
  const onRetry = (code: string) => history.countRetry(code)
  const client: ShopperClient = {
    api,
    repeatUntilFinal: (call, abandonChance = 0) => reconcile(() => call(api), { random, abandonChance, onRetry }),
    async read(call) {
      const { status, code, data } = await client.repeatUntilFinal(call)
      if (data === undefined) throw new Error(`A read failed: ${status} ${code}`)
      return data
    },
  }
  return client
}

interface Page<T> {
  data: T[]
  meta: { hasNextPage: boolean; endCursor: string | null; asOf: string }
}

/** Reads all pages of a list, repeating each read until it succeeds. */
export async function readList<T>(
  client: ShopperClient,
  list: (api: Tillbridge) => { page(cursor?: string): Promise<Page<T>> },
): Promise<{ records: T[]; asOf: string }> {
  const records: T[] = []
  for (let cursor: string | undefined; ; ) {
    const { data, meta } = await client.read(api => list(api).page(cursor))
    records.push(...data)
    if (!meta.hasNextPage) return { records, asOf: meta.asOf }
    cursor = meta.endCursor ?? undefined
  }
}

const addUp = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)

/** Runs one shopper, who does one thing after another until `isOver`. Only this shopper changes `ownCustomers`. */
export async function runShopper(
  name: string,
  random: Random,
  ownCustomers: Customer[],
  context: ShopperContext,
  isOver: () => boolean,
) {
  const { history, customers, orders, vouchers, gateways, abandonChance } = context
  const client = openShopperClient(context, random)
  let count = 0
  const nextKey = () => `${name}-${++count}`
  const phone = () => `04${random.integer(10_000_000, 99_999_999)}`
  const pickFrom = <T>(list: readonly T[]) => (list.length ? random.pick(list) : undefined)

  /** Sends a write until its outcome is final, and records it. Sometimes sends it twice at the same time, or repeats it afterwards. */
  async function write(
    type: OperationType,
    key: string,
    call: (api: Tillbridge, options: { idempotencyKey: string }) => Promise<WrittenRecord>,
    details: Pick<Operation, 'target' | 'value' | 'drawsOnVoucher'> = {},
  ): Promise<WrittenRecord | undefined> {
    // A change has no Idempotency-Key, because repeating it has no further effect.
    const hasKey = type !== 'change'
    const send = (chance = 0) => client.repeatUntilFinal(api => call(api, { idempotencyKey: key }), chance)
    const sending = hasKey ? [send(abandonChance)] : [send()]
    if (hasKey && random.chance(0.08)) sending.push(send(abandonChance))
    const attempts = await Promise.all(sending).catch((error: Error) => {
      history.withoutResult.push(`${key}: ${error.message}`)
    })
    const [first] = attempts ?? []
    if (!attempts || !first) return
    // The API can reject one of two simultaneous requests and accept the other a moment later.
    const outcome =
      attempts.find(({ status }) => status < 300) ?? attempts.find(({ status }) => status === abandoned) ?? first
    const operation: Operation = { type, key, ...details, outcome, ...(hasKey && { repeat: () => send() }) }
    history.record(operation)
    if (!isAcknowledged(operation)) return
    if (hasKey && random.chance(0.1)) {
      const { status } = await send()
      if (status >= 300) history.contradictions.push(`${key}: ${outcome.status}, then ${status}`)
    }
    return outcome.data
  }

  /** Picks one to three SKUs to buy, at the current prices. Returns undefined if none can be bought. */
  async function fillBasket() {
    const { data } = await client.read(api => api.products.list({ limit: 100 }).page())
    const skus = data.flatMap(product => ('colours' in product ? toSkus(product) : []))
    if (!skus.length) return
    const skusToBuy = [...new Set(Array.from({ length: random.integer(1, 3) }, () => random.pick(skus)))]
    const lines = skusToBuy.map(({ sku, price }) => ({ sku, price, quantity: random.integer(1, 3) }))
    return {
      dueCents: addUp(lines.map(({ price, quantity }) => Math.round(Number(price) * 100) * quantity)),
      lines: lines.map(({ sku, quantity }) => ({ sku, quantity })),
    }
  }

  async function order(key: string, lines: readonly Line[], payments: OrderInput['payments']) {
    const customer = pickFrom(customers)
    if (!customer) return
    const body: OrderInput = {
      customerId: customer.id,
      billingAddress: { ...address, addressLine2: key },
      deliveryAddress: address,
      ...(random.chance(0.5) && { orderNumber: `O${key}` }),
      lines: [...lines],
      payments,
    }
    const drawsOnVoucher = payments.some(({ voucher }) => voucher)
    const placed = await write('order', key, (api, options) => api.orders.place(body, options), { drawsOnVoucher })
    if (!placed?.id) return
    await context.ship(placed.id)
    orders.push({ id: placed.id, lines })
  }

  const actions: (() => Promise<unknown>)[] = [
    async function createCustomer() {
      const key = nextKey()
      const email = `${key}@shopper.test`
      const consent = random.chance(0.5) ? { emailSubscription: true } : { privacy: random.chance(0.5) }
      const contact = { email, phones: { work: phone() } }
      const body = { firstname: 'Scenario', surname: key, contact, address, ...consent }
      const created = await write('customer', key, (api, options) => api.customers.create(body, options))
      if (!created?.id) return
      ownCustomers.push({ id: created.id, email })
      customers.push({ id: created.id, email })
    },
    async function changeCustomer() {
      const customer = pickFrom(ownCustomers)
      if (!customer) return
      const work = `${phone()}${count}`
      const consent = random.pick([
        {},
        { privacy: true },
        { emailSubscription: true },
        { smsSubscription: random.chance(0.5) },
      ])
      const body = { contact: { phones: { work } }, ...consent }
      const details = { target: customer.id, value: work }
      await write('change', nextKey(), api => api.customers.update(customer.id, body), details)
    },
    async function orderByCard() {
      const basket = await fillBasket()
      const key = nextKey()
      if (basket)
        await order(key, basket.lines, [
          { gateway: gateways.card, amount: formatAmount(basket.dueCents), reference: key },
        ])
    },
    async function orderWithVoucher() {
      const voucher = pickFrom(vouchers())
      const basket = voucher && (await fillBasket())
      if (!voucher || !basket) return
      const cents = random.integer(100, Math.min(basket.dueCents, 1_500))
      const amount = formatAmount(cents)
      const { status, data } = await client.repeatUntilFinal(api => api.vouchers.validate({ ...voucher, amount }))
      if (status !== 200 || !data?.validationId) return
      const { validationId } = data
      const lock = (lockSeconds: number) =>
        write('lock', nextKey(), (api, options) =>
          api.vouchers.lock(voucher.number, { validationId, lockSeconds }, options),
        )
      if (random.chance(0.6)) await lock(random.pick([1, 3, 30]))
      if (random.chance(0.2)) return lock(0)
      const key = nextKey()
      const byCard =
        basket.dueCents > cents ? [{ gateway: gateways.card, amount: formatAmount(basket.dueCents - cents) }] : []
      const byVoucher = {
        gateway: gateways.voucher,
        amount,
        reference: key,
        voucher: { number: voucher.number, validationId },
      }
      return order(key, basket.lines, [byVoucher, ...byCard])
    },
    async function returnLine() {
      const original = pickFrom(orders)
      const line = original && pickFrom(original.lines)
      if (!line) return
      const key = nextKey()
      // Up to one unit more than was bought.
      const lines = [{ sku: line.sku, quantity: random.integer(1, line.quantity + 1), reasonCode: 'SIZE', notes: key }]
      const body = {
        lines,
        restock: random.chance(0.7),
        ...(random.chance(0.3) && { returnNumber: `R${key}` }),
      }
      await write('return', key, (api, options) => api.orders.createReturn(original.id, body, options), {
        target: original.id,
      })
    },
    async function buyVoucher() {
      const key = nextKey()
      const body = {
        amount: formatAmount(random.integer(1_000, 9_000)),
        gateway: gateways.card,
        subject: key,
        receiverName: 'Ann Shopper',
        receiverEmail: `ann@${key}.test`,
        senderName: 'Bo',
        billingAddress: { ...address, addressLine2: key },
        message: 'Enjoy!',
        ...(random.chance(0.5) && { orderNumber: `V${key}` }),
      }
      await write('voucherSale', key, (api, options) => api.vouchers.issue(body, options))
    },
    async function orderWithErrors() {
      const key = nextKey()
      const basket = await fillBasket()
      if (!basket) return
      const [first] = basket.lines
      const payment = { gateway: gateways.card, amount: '1.00' }
      const attempts: [lines: readonly Line[], payment: { gateway: string; amount: string }][] = [
        [[{ sku: 'NO-SUCH-SKU', quantity: 1 }], payment],
        [basket.lines, { ...payment, amount: formatAmount(basket.dueCents + 1) }],
        [first ? [first] : [], { ...payment, gateway: 'unknown' }],
      ]
      const [lines, wrong] = random.pick(attempts)
      await order(key, lines, [wrong])
    },
  ]
  while (!isOver()) await random.pick(actions)()
}

/** SKUs that can be bought; 9001 is the voucher itself. */
const toSkus = ({ colours }: Product): Sku[] =>
  colours
    .flatMap(({ sizes }) => sizes)
    .filter(({ skuId }) => skuId !== '9001')
    .filter(({ ecommerceSku, price }) => ecommerceSku && Number(price) > 0)
    .map(({ ecommerceSku, price }) => ({ sku: String(ecommerceSku), price }))
