import { memoize } from '../../../concurrency/ttl-cache.ts'
import type { Db } from '../../../database/db.ts'
import { inOrder, priceOrder } from '../../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../../domain/orders/orders.ts'
import { forEachVoucher } from '../../../domain/orders/voucher-payments.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { amount, decimalsOf } from '../../../domain/values/money.ts'
import { ApiError, asApiError, type FieldError, toApiError } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { findStoresByNumber } from '../../../store/catalog/stores.ts'
import { customerRecord } from '../../../store/customers/customers.ts'
import { holdOrder, orderRecord } from '../../../store/orders/orders.ts'
import {
  insertLines,
  insertOrder,
  insertPayments,
  knownToOrder,
  orderNumberGiven,
  type SoldVariant,
  variantsOf,
} from '../../../store/orders/place.ts'
import type { Write } from '../../../writes/write.ts'
import type { OrderWrites } from '../../port/orders.ts'
import type { Client } from '../client/client.ts'
import { derivedNumber } from '../mapping/numbers.ts'
import { faultsOfOrder, type OrderContact, type PlacedOrder } from '../mapping/order-to-xml.ts'
import { noPayment, paymentByVoucher, paymentThrough } from '../mapping/payment.ts'
import { orderNumberHold } from '../queries/adopted-orders.ts'
import { type EarlierOrder, earlierOrder } from '../queries/earlier-order.ts'
import { orderNumbered } from '../queries/order-search.ts'
import { isCustomer, orGone } from '../queries/persons.ts'
import { findOrder } from '../queries/stored-orders.ts'
import type { Upstream } from '../queries/upstream.ts'
import type { Fields } from '../xml/payload.ts'
import { nameOf } from './open-voucher.ts'
import { createReturn, returnReasons } from './returns.ts'
import { place, taken } from './submit-order.ts'
import { soldAs } from './voucher-sale.ts'
import { drawableValidation, noteDrawn } from './vouchers.ts'

/**
 * Orders placed with the back office, under its own identifiers. Stock, sales and rewards are its business: they come back with the
 * syncs. Here an order's lines are `processing` until the back office says that they are shipped.
 */
export const orderWrites = (upstream: Upstream): OrderWrites => ({
  async placeOrder(write, input) {
    const { client } = upstream
    const decimals = decimalsOf(write.service.settings.currency)
    const { number, judged } = await judgedOrder(upstream, write, input, decimals)
    const find = memoize(() => orderNumbered(client, number, input.customerId))
    const attempt = async () => {
      if (judged instanceof ApiError) throw judged
      const { order, variants } = judged
      return { ...order, variants, id: await place(client, write, order, input, find) }
    }
    const placed = await attempt().catch(async error => {
      const earlier = await earlierOrder(write, input, { find, decimals, error })
      if (!earlier) throw await orGone(upstream, write, input.customerId, error)
      return earlier
    })
    return tx => stored(tx, write, input, { ...placed, number, decimals })
  },
  findOrder: (reading, name) => findOrder(upstream, reading, name),
  createReturn: createReturn(upstream),
  returnReasons: returnReasons(upstream),
})

interface Judged {
  /** As the back office is to have it. */
  order: PlacedOrder
  /** What it sells. */
  variants: ReadonlyMap<string, SoldVariant>
}

/**
 * Judges an order, and holds its number and the vouchers that pay: its number, and what it is, or why it is refused. The number is the one
 * given, or the write's own; where that was used long ago, since a key counts for a day, the one that follows (`turn`).
 */
async function judgedOrder(
  upstream: Upstream,
  write: Write,
  input: OrderInput,
  decimals: number,
  turn = 0,
): Promise<{ number: string; judged: Judged | ApiError }> {
  const { service, step, reference } = write
  const number = input.orderNumber ?? derivedNumber('W', reference, turn)
  const vouchers = input.payments.flatMap(({ voucher }) => (voucher ? [nameOf(voucher.number)] : []))
  const judge = () =>
    step(
      async tx => {
        const [isGiven, known] = await Promise.all([
          orderNumberGiven(tx, service, number),
          knownToOrder(tx, service, input),
        ])
        const isOurs = typeof input.orderNumber !== 'string'
        const names = { ...known, numberTaken: isGiven && !isOurs }
        const judged = await judgedIn(tx, upstream.client, write, input, names, { number, decimals }).catch(asApiError)
        return { number, isUsed: isGiven && isOurs, isKnown: known.customer, judged }
      },
      { names: [orderNumberHold(number), ...vouchers], untilKnown: true },
    )
  const first = await judge()
  if (first.isUsed) return judgedOrder(upstream, write, input, decimals, turn + 1)
  return !first.isKnown && (await isCustomer(upstream, write, input.customerId)) ? judge() : first
}

/** Throws all that is wrong with an order. */
async function judgedIn(
  tx: Db,
  client: Client,
  write: Write,
  input: OrderInput,
  known: Awaited<ReturnType<typeof knownToOrder>>,
  { number, decimals }: { number: string; decimals: number },
): Promise<Judged> {
  const { service } = write
  const skus = input.lines.map(line => line.sku)
  const [found, giftCardSkuId, contact] = await Promise.all([
    variantsOf(tx, service, skus, decimals),
    soldAs(tx, service),
    contactOf(tx, service, input.customerId),
  ])
  const variants = new Map(found.map(variant => [variant.sku, variant]))
  const priced = priceOrder(input, { ...known, giftCardSkuId, variants }, service.settings.currency, decimals)
  const faults = [...priced.faults, ...faultsOfOrder(input, priced.freight)]
  if (known.customer && !contact) faults.push(noAddress)
  throwIfAny(inOrder(faults))
  if (!contact) throw toApiError([noAddress])
  const order = {
    ...priced,
    input,
    decimals,
    contact,
    number,
    personId: input.customerId,
    skuIds: new Map([...variants].map(([sku, variant]) => [sku, variant.skuId])),
    pickupStoreId: await storeIdOf(tx, service, input),
    payments: await paymentsOf(tx, client, write, input, decimals),
  }
  return { order, variants }
}

interface Stored extends EarlierOrder {
  number: string
  decimals: number
}

/** Puts an order that the back office has into our tables. */
async function stored(
  tx: Db,
  { keys, service }: Write,
  input: OrderInput,
  { id, number, decimals, variants, ...priced }: Stored,
) {
  const { currency } = service.settings
  const made = await insertOrder(tx, service, { number, id }, input, { ...priced, currency, decimals })
  // Somebody has looked this very order up, when nobody was about it any more: it is in our tables, and its vouchers are as they were.
  if (!made && !(await holdOrder(tx, service, { id }))) throw taken(number)
  await forEachVoucher(input.payments, draw => noteDrawn(tx, keys, service, draw))
  if (made) {
    await insertLines(tx, service, made, input.lines, priced.lines, variants)
    await insertPayments(tx, service, made, input.payments)
  }
  const record = await orderRecord(tx, service, id)
  if (!record) throw new Error('what was just written is there')
  return { id, ...record }
}

const noAddress: FieldError = {
  pointer: '/customerId',
  code: 'invalid_field',
  detail: 'The back office asks for an e-mail address of the customer.',
}

/** Whom an order is for; undefined where there is no e-mail address. */
async function contactOf(tx: Db, service: Service, customerId: string): Promise<OrderContact | undefined> {
  const found = await customerRecord(tx, service, customerId)
  const { firstname, surname, contact } = JSON.parse(found?.record ?? '{}')
  if (!contact?.email) return
  const name = [firstname, surname].filter(Boolean).join(' ')
  return { name, email: contact.email, phones: contact.phones }
}

async function storeIdOf(tx: Db, service: Service, { pickupStoreNumber }: OrderInput) {
  if (!pickupStoreNumber) return
  const [store] = await findStoresByNumber(tx, service, [pickupStoreNumber])
  return store?.store_id
}

/** How an order is paid, as the back office wants to know it. */
async function paymentsOf(
  tx: Db,
  client: Client,
  { keys, service }: Write,
  { payments }: OrderInput,
  decimals: number,
): Promise<Fields> {
  if (payments.length === 0) return [noPayment(amount(0n, decimals))]
  const validations = await forEachVoucher(payments, draw => drawableValidation(tx, keys, service, draw))
  return payments.map(payment =>
    payment.voucher
      ? paymentByVoucher(payment.amount, payment.voucher.number, validations.get(payment.voucher.number) ?? '')
      : paymentThrough(client.connection, payment),
  )
}
