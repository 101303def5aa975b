import { memoize } from '../../../concurrency/ttl-cache.ts'
import type { Db } from '../../../database/db.ts'
import { priceOrder, sortErrors } from '../../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../../domain/orders/orders.ts'
import { resolveQuote } from '../../../domain/orders/quotes.ts'
import { forEachVoucher } from '../../../domain/orders/voucher-payments.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import { withPointer } from '../../../domain/vouchers/redemption.ts'
import { ApiError, ensureApiError, type FieldError } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { findStoresByNumber } from '../../../store/catalog/stores.ts'
import { findCustomer } from '../../../store/customers/customers.ts'
import { addJob } from '../../../store/jobs/jobs.ts'
import { findOrderRecord, lockOrder } from '../../../store/orders/orders.ts'
import {
  findVariants,
  insertLines,
  insertOrder,
  insertPayments,
  isOrderNumberUsed,
  readOrderContext,
  type SoldVariant,
} from '../../../store/orders/place.ts'
import { ignoreError } from '../../../telemetry/ignored-errors.ts'
import { isRejection, NotApplied, type Write } from '../../../writes/write.ts'
import { toSkuIds } from '../../orders/cart.ts'
import type { OrderWrites } from '../../port/orders.ts'
import type { Client } from '../client/client.ts'
import { deriveNumber } from '../mapping/numbers.ts'
import { checkOrder, type NewOrder, type OrderContact } from '../mapping/order-to-xml.ts'
import { buildGatewayPayment, buildVoucherPayment, buildZeroPayment } from '../mapping/payment.ts'
import { getOrderNumberLock } from '../queries/adopted-orders.ts'
import { type EarlierOrder, findEarlierOrder } from '../queries/earlier-order.ts'
import { isAboutPrices, refreshPrices } from '../queries/live-prices.ts'
import { fetchOrderByNumber } from '../queries/order-search.ts'
import { ensureCustomer, toCustomerGoneError } from '../queries/persons.ts'
import { findOrder } from '../queries/stored-orders.ts'
import type { Upstream } from '../queries/upstream.ts'
import type { Fields } from '../xml/payload.ts'
import { fulfilmentWrites } from './fulfilment.ts'
import { getVoucherLock } from './open-voucher.ts'
import { createReturn, listReturnReasons } from './returns.ts'
import { prepareHold, releaseHold, useHold } from './stock-hold.ts'
import { createNumberTaken, submitOrder } from './submit-order.ts'
import { resolveGiftCardSkuId } from './voucher-sale.ts'
import { recordRedemption, requireDrawableValidation } from './vouchers.ts'

/**
 * Places orders with the back office, under its identifiers. The back office updates stock, sales and rewards, and the syncs read them.
 * An order's lines are `processing` until the back office ships them.
 */
export const createOrderWrites = (upstream: Upstream): OrderWrites => ({
  async placeOrder(write, requested) {
    const { client } = upstream
    const decimals = getDecimals(write.service.settings.currency)
    const quoted = resolveQuote(write.keys, write.service, requested)
    const { input } = quoted
    const { number, validated } = await lockAndValidateOrder(upstream, write, quoted, decimals)
    // Runs only after the order was submitted or rejected, so a cached result is never older than the submission.
    const find = memoize(() => fetchOrderByNumber(client, number, input.customerId))
    const submit = async () => {
      if (validated instanceof ApiError) throw validated
      const { order, variants } = validated
      if (write.isDryRun) {
        await requireKnownMerchants(upstream, input.payments)
        if (input.orderNumber !== undefined && (await find())) throw createNumberTaken(number)
      }
      return { ...order, variants, id: await submitOrder(client, write, order, input, find) }
    }
    const acceptedOrder = await submit().catch(async error => {
      // If an earlier attempt at this write placed the order, this attempt can fail. The write has then succeeded.
      const earlier = await findEarlierOrder(write, input, { find, decimals, error })
      if (earlier) return earlier
      if (isRejection(error) || error instanceof NotApplied)
        await ignoreError(
          write.stage(tx => releaseHold(tx, write)),
          'stock reservations expire',
        )
      throw await toCustomerGoneError(upstream, write, input.customerId, error)
    })
    return tx => storeOrder(tx, write, input, { ...acceptedOrder, number, decimals })
  },
  findOrder: (reading, name) => findOrder(upstream, reading, name),
  createReturn: createReturn(upstream),
  ...fulfilmentWrites,
  returnReasons: listReturnReasons(upstream),
})

interface ValidatedOrder {
  /** The order as it is sent to the back office. */
  order: NewOrder
  /** The sold variants by SKU. */
  variants: ReadonlyMap<string, SoldVariant>
}

/**
 * Locks the order number and the vouchers until the outcome of the write is known, and validates the order. Returns the number with the
 * validated order or its error, because the caller needs the number to find an order that an earlier attempt placed.
 * The number is the caller's, or derived from the write's reference. A derived number can belong to an order of an older write with the
 * same reference, because idempotency keys expire after a day. Then the next one is tried.
 */
async function lockAndValidateOrder(
  upstream: Upstream,
  write: Write,
  quoted: ReturnType<typeof resolveQuote>,
  decimals: number,
  numberAttempt = 0,
): Promise<{ number: string; validated: ValidatedOrder | ApiError }> {
  const { service, stage, reference } = write
  const { input } = quoted
  const isDerived = input.orderNumber === undefined
  const number = input.orderNumber ?? deriveNumber('W', reference, numberAttempt)
  const vouchers = input.payments.flatMap(({ voucher }) => (voucher ? [getVoucherLock(voucher.number)] : []))
  const reservations = input.reservationId ? [`reservation ${input.reservationId}`] : []
  const validate = () =>
    stage(
      async tx => {
        const [isUsed, context] = await Promise.all([
          isOrderNumberUsed(tx, service, number),
          readOrderContext(tx, service, input),
        ])
        const contextWithNumber = { ...context, numberTaken: isUsed && !isDerived }
        const validated = await validateOrder(tx, upstream.client, write, quoted, contextWithNumber, {
          number,
          decimals,
        }).catch(ensureApiError)
        return { number, isNumberUsed: isUsed, isCustomerKnown: context.customer, validated }
      },
      { names: [getOrderNumberLock(number), ...vouchers, ...reservations], untilResolved: true },
    )
  const first = await validate()
  if (isDerived && first.isNumberUsed) return lockAndValidateOrder(upstream, write, quoted, decimals, numberAttempt + 1)
  const isPriceStale = first.validated instanceof ApiError && !quoted.isQuoted && isAboutPrices(first.validated)
  const skus = input.lines.map(line => line.sku)
  const isCustomerFound = !first.isCustomerKnown && (await ensureCustomer(upstream, write, input.customerId))
  const isRefreshed = isPriceStale && (await refreshPrices(upstream, write, skus))
  return isCustomerFound || isRefreshed ? validate() : first
}

/** For dry runs, which send no order. Throws if a gateway's merchant is unknown to the back office, if that can be determined. */
async function requireKnownMerchants({ findUnknownMerchant }: Upstream, payments: OrderInput['payments']) {
  const unknown = await findUnknownMerchant(payments.map(({ gateway, voucher }) => (voucher ? null : gateway)))
  if (unknown) throw withPointer(`/payments/${unknown.index}/gateway`, unknown.error)
}

/** Validates an order. Throws all its errors at once. */
async function validateOrder(
  tx: Db,
  client: Client,
  write: Write,
  { input, isQuoted, freightOption, errors: quoteErrors }: ReturnType<typeof resolveQuote>,
  context: Awaited<ReturnType<typeof readOrderContext>>,
  { number, decimals }: { number: string; decimals: number },
): Promise<ValidatedOrder> {
  const { service } = write
  const skus = input.lines.map(line => line.sku)
  const [soldVariants, giftCardSkuId, contact] = await Promise.all([
    findVariants(tx, service, skus, decimals),
    resolveGiftCardSkuId(tx, service),
    loadContact(tx, service, input.customerId),
  ])
  const variants = new Map(soldVariants.map(variant => [variant.sku, variant]))
  const facts = { ...context, giftCardSkuId, variants, isQuoted }
  const priced = priceOrder(input, facts, service.settings.currency, decimals)
  const errors = [...quoteErrors, ...priced.errors, ...checkOrder(input, priced.freight)]
  const { errors: shortfalls, hold } = await prepareHold(tx, write, input, variants)
  errors.push(...shortfalls)
  // An unknown customer already has an error of its own.
  if (context.customer && !contact) errors.push(missingEmail)
  throwIfAny(sortErrors(errors))
  if (!contact) throw new Error(`customer ${input.customerId} has no contact`)
  const order = {
    ...priced,
    input,
    decimals,
    contact,
    number,
    personId: input.customerId,
    skuIds: toSkuIds(variants),
    pickupStoreId: await findStoreId(tx, service, input),
    freightOption,
    payments: await buildPayments(tx, client, write, input, decimals),
  }
  await hold()
  return { order, variants }
}

interface AcceptedOrder extends EarlierOrder {
  number: string
  decimals: number
}

/** Stores an order that the back office has accepted. */
async function storeOrder(
  tx: Db,
  write: Write,
  input: OrderInput,
  { id, number, decimals, variants, ...priced }: AcceptedOrder,
) {
  const { keys, service } = write
  const { currency } = service.settings
  const inserted = await insertOrder(tx, service, { number, id }, input, { ...priced, currency, decimals })
  await useHold(tx, write, input, variants)
  // If an earlier attempt placed the order, a lookup may have stored it. A lookup redeems no vouchers, so they are redeemed in both cases.
  if (!inserted && !(await lockOrder(tx, service, { id }))) throw createNumberTaken(number)
  await forEachVoucher(input.payments, payment => recordRedemption(tx, keys, service, payment))
  if (inserted) {
    await insertLines(tx, service, inserted, input.lines, priced.lines, variants)
    await insertPayments(tx, service, inserted, input.payments)
    await addJob(tx, service.id, 'refresh-stock', { subject: id })
  }
  const record = await findOrderRecord(tx, service, id)
  if (!record) throw new Error(`order ${id} is missing after its insert`)
  return { id, ...record }
}

const missingEmail: FieldError = {
  pointer: '/customerId',
  code: 'invalid_field',
  detail: 'The customer must have an email address in the back office.',
}

/** Loads the recipient of an order. Returns undefined if the customer has no email address. */
async function loadContact(tx: Db, service: Service, customerId: string): Promise<OrderContact | undefined> {
  const customer = await findCustomer(tx, service, customerId)
  const { firstname, surname, contact } = JSON.parse(customer?.record ?? '{}')
  if (!contact?.email) return
  const name = [firstname, surname].filter(Boolean).join(' ')
  return { name, email: contact.email, phones: contact.phones }
}

async function findStoreId(tx: Db, service: Service, { pickupStoreNumber }: OrderInput) {
  if (!pickupStoreNumber) return
  const [store] = await findStoresByNumber(tx, service, [pickupStoreNumber])
  return store?.store_id
}

/** Builds the payments of an order. Throws if a voucher can't be redeemed. */
async function buildPayments(
  tx: Db,
  client: Client,
  { keys, service }: Write,
  { payments }: OrderInput,
  decimals: number,
): Promise<Fields> {
  if (payments.length === 0) return [buildZeroPayment(formatAmount(0n, decimals))]
  const validations = await forEachVoucher(payments, draw => requireDrawableValidation(tx, keys, service, draw))
  return payments.map(payment =>
    payment.voucher
      ? buildVoucherPayment(payment.amount, payment.voucher.number, validations.get(payment.voucher.number) ?? '')
      : buildGatewayPayment(client.connection, payment),
  )
}
