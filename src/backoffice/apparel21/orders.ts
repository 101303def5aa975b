import { amount, decimalsOf } from '../../domain/money.ts'
import { inOrder, numberTaken, priceOrder } from '../../domain/orders/check.ts'
import type { OrderInput, OrderWrites } from '../../domain/orders/orders.ts'
import { forEachVoucher } from '../../domain/orders/voucher-payments.ts'
import { pointedAt } from '../../domain/vouchers/use.ts'
import type { Write } from '../../domain/write.ts'
import { ApiError, type ErrorCode, type Fault, faulty } from '../../errors.ts'
import { refuse } from '../../refuse.ts'
import { customerRecord } from '../../store/customers/customers.ts'
import { storesByNumber } from '../../store/goods/stock.ts'
import { orderRecord } from '../../store/orders/orders.ts'
import {
  insertLines,
  insertOrder,
  insertPayments,
  knownToOrder,
  orderNumberTaken,
  type SoldVariant,
  variantsOf,
} from '../../store/orders/placing.ts'
import type { Client } from './calls/client.ts'
import { afterEffect, effect } from './calls/effect.ts'
import { numberExists, refusalBehind } from './calls/refusal.ts'
import { type EarlierOrder, earlierOrder } from './lookup/earlier-order.ts'
import { findOrder } from './lookup/known-orders.ts'
import { orderNumbered } from './lookup/order-search.ts'
import { isCustomer } from './lookup/people.ts'
import type { Upstream } from './lookup/upstream.ts'
import { derivedNumber } from './records/numbers.ts'
import { faultsOfOrder, isThisOrder, type OrderContact, orderPayload, type PlacedOrder } from './records/order-write.ts'
import { noPayment, paymentByVoucher, paymentThrough } from './records/payment.ts'
import { createReturn } from './returns.ts'
import { soldAs } from './voucher-sale.ts'
import { drawnValidation } from './vouchers.ts'
import type { Fields } from './xml/payload.ts'
import { text } from './xml/values.ts'

/**
 * Orders placed with the back office, under its own identifiers. Stock, sales and rewards are its business: they come back with the
 * feeds. Here an order's lines are `processing` until the back office says that they are shipped.
 */
export const orderWrites = (upstream: Upstream): OrderWrites => ({
  async placeOrder(write, input) {
    const decimals = decimalsOf(write.service.settings.currency)
    const { client } = upstream
    const number = input.orderNumber ?? (await freeNumber(write))
    try {
      const { order, variants } = await judged(upstream, write, input, { number, decimals })
      const id = await place(client, order, input)
      return await afterEffect(() => stored(write, input, { ...order, id, decimals, variants }))
    } catch (error) {
      const earlier = await earlierOrder(client, write, input, { number, decimals, error })
      if (!earlier) throw error
      return afterEffect(() => stored(write, input, { ...earlier, number, decimals }))
    }
  },
  findOrder: (reading, name) => findOrder(upstream, reading, name),
  createReturn: createReturn(upstream),
})

/** The order as the back office is to have it, with what it sells; throws all that is wrong with it. */
async function judged(
  upstream: Upstream,
  write: Write,
  input: OrderInput,
  { number, decimals }: { number: string; decimals: number },
): Promise<{ order: PlacedOrder; variants: ReadonlyMap<string, SoldVariant> }> {
  const { tx, service } = write
  const skus = input.lines.map(line => line.sku)
  const variants = new Map((await variantsOf(tx, service, skus, decimals)).map(variant => [variant.sku, variant]))
  const known = { ...(await knownToOrder(tx, service, input)), giftCardSkuId: await soldAs(tx, service) }
  const customer = known.customer || (await isCustomer(upstream, write, input.customerId))
  const priced = priceOrder(input, { ...known, customer, variants }, service.settings.currency, decimals)
  const contact = customer ? await contactOf(write, input.customerId) : undefined
  const faults = [...priced.faults, ...faultsOfOrder(input, priced.freight)]
  if (customer && !contact) faults.push(noAddress)
  refuse(inOrder(faults))
  if (!contact) throw faulty([noAddress])
  const order = {
    ...priced,
    input,
    decimals,
    contact,
    number,
    personId: input.customerId,
    skuIds: new Map([...variants].map(([sku, variant]) => [sku, variant.skuId])),
    pickupStoreId: await storeIdOf(write, input),
    payments: await paymentsOf(upstream.client, write, input, decimals),
  }
  return { order, variants }
}

/** Puts an order that the back office has into our tables. */
async function stored(
  { tx, service }: Write,
  input: OrderInput,
  { id, number, decimals, variants, ...priced }: EarlierOrder & { number: string; decimals: number },
) {
  const { currency } = service.settings
  const made = await insertOrder(tx, service, { number, id }, input, { ...priced, currency, decimals })
  if (!made) throw taken(number)
  await insertLines(tx, service, made, input.lines, priced.lines, variants, new Map())
  await insertPayments(tx, service, made, input.payments)
  const record = await orderRecord(tx, service, id)
  if (!record) throw new Error('what was just written is there')
  return { id, ...record }
}

const noAddress: Fault = {
  pointer: '/customerId',
  code: 'invalid_field',
  detail: 'The back office asks for an e-mail address of the customer.',
}

const taken = (number: string) => faulty([numberTaken('/orderNumber', `There is an order ${number} already.`)])

/** Whom an order is for; undefined where there is no e-mail address. */
async function contactOf({ tx, service }: Write, customerId: string): Promise<OrderContact | undefined> {
  const found = await customerRecord(tx, service, customerId)
  const { firstname, surname, contact } = JSON.parse(found?.record ?? '{}')
  if (!contact?.email) return
  const name = [firstname, surname].filter(Boolean).join(' ')
  return { name, email: contact.email, phones: contact.phones }
}

/** The write's own number; where that was used long ago, since a key counts for a day, the one that follows. */
async function freeNumber({ tx, service, reference }: Write): Promise<string> {
  for (let turn = 0; ; turn++) {
    const number = derivedNumber('W', reference, turn)
    if (!(await orderNumberTaken(tx, service, number))) return number
  }
}

async function storeIdOf({ tx, service }: Write, { pickupStoreNumber }: OrderInput): Promise<string | undefined> {
  if (!pickupStoreNumber) return
  const [store] = await storesByNumber(tx, service, [pickupStoreNumber])
  return store?.store_id
}

/** How an order is paid, as the back office wants to know it. Spends the validations of vouchers. */
async function paymentsOf(client: Client, write: Write, { payments }: OrderInput, decimals: number): Promise<Fields> {
  if (payments.length === 0) return [noPayment(amount(0n, decimals))]
  const validations = await forEachVoucher(payments, draw => drawnValidation(write, draw))
  return payments.map(payment =>
    payment.voucher
      ? paymentByVoucher(payment.amount, payment.voucher.number, validations.get(payment.voucher.number) ?? '')
      : paymentThrough(client.connection, payment),
  )
}

/**
 * Places an order, unless an earlier attempt has; returns its identifier. Where the number exists the order that has it is looked at:
 * the same one is this one. What is said of a voucher may come of its having paid already, by that attempt.
 */
async function place(client: Client, order: PlacedOrder, input: OrderInput): Promise<string> {
  const { personId, number } = order
  const find = () => afterEffect(() => orderNumbered(client, number, personId))
  try {
    const path = ['Persons', personId, 'Orders']
    const { id } = await effect(client, { endpoint: 'orders', method: 'POST', path, body: orderPayload(order) })
    if (id !== undefined) return id
  } catch (error) {
    const refusal = refusalBehind(error)
    const paysByVoucher = input.payments.some(payment => payment.voucher)
    if (!refusal || !(refusal.code === numberExists || paysByVoucher)) throw error
    const found = await find()
    const id = found && isThisOrder(found, order) ? text(found, 'Id') : null
    if (id) return id
    if (refusal.code !== numberExists) throw pointedAtVoucher(error, input)
    if (typeof input.orderNumber === 'string') throw taken(number)
    throw new ApiError(found ? 'idempotency_key_reused' : 'back_office_error')
  }
  const id = text(await find(), 'Id')
  if (!id) throw new ApiError('outcome_unknown', undefined, { retryAfter: 2 })
  return id
}

const ofVouchers: ReadonlySet<ErrorCode> = new Set([
  ...(['voucher_not_accepted', 'validation_id_incorrect', 'voucher_locked', 'voucher_unusable'] as const),
  ...(['voucher_must_be_used_in_full', 'insufficient_voucher_balance'] as const),
])

/** What is the matter with the only voucher that pays, with its place. */
function pointedAtVoucher(error: unknown, { payments }: OrderInput): unknown {
  const [place, other] = payments.flatMap(({ voucher }, i) => (voucher ? [i] : []))
  if (!(error instanceof ApiError) || place === undefined || other !== undefined) return error
  return ofVouchers.has(error.code) ? pointedAt(`/payments/${place}/voucher`, error) : error
}
