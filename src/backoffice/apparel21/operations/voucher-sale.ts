import type { Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import { findMissingSettings, getGateway, giftCardNotFound, validateIssue } from '../../../domain/vouchers/issue.ts'
import { withPointer } from '../../../domain/vouchers/redemption.ts'
import type { IssuedVoucher, VoucherInput } from '../../../domain/vouchers/vouchers.ts'
import { ApiError, type FieldError, toApiError } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { findStockKey } from '../../../store/catalog/skus.ts'
import { listGatewayNames } from '../../../store/tenancy/gateways.ts'
import { readVoucherDates } from '../../../store/vouchers/issue.ts'
import { recordVoucherSale, type VoucherSale } from '../../../store/vouchers/upstream-sales.ts'
import { type CommitPhase, isRejection, NotApplied, type Write } from '../../../writes/write.ts'
import { findGiftCardSkuId } from '../../vouchers/gift-card.ts'
import type { Client } from '../client/client.ts'
import { performWrite } from '../client/perform-write.ts'
import { featureReleases, type ReleaseReader } from '../client/release.ts'
import { emailTaken, findRetailApiError, numberExists } from '../client/retail-api-error.ts'
import { maxCountryLength } from '../mapping/order-to-xml.ts'
import { readPersonId } from '../mapping/person-from-xml.ts'
import { buildNewPerson } from '../mapping/person-to-xml.ts'
import { buildSalePayload, isSameSale, type VoucherOrder } from '../mapping/sale-to-xml.ts'
import { findEarlierSale, lockSaleNumbers } from '../queries/earlier-sale.ts'
import type { GiftCard } from '../queries/gift-cards.ts'
import { fetchOrderByNumber } from '../queries/order-search.ts'
import { fetchPersonByEmail } from '../queries/persons.ts'
import type { Upstream } from '../queries/upstream.ts'
import { toLocalTime } from '../syncs/checkpoint.ts'
import { readText } from '../xml/values.ts'
import { pointToTooLongText } from './error-pointers.ts'

/**
 * Sells a voucher as an order of the gift card SKU. The back office creates number and PIN later and emails them itself, so the response
 * is pending. Without a caller's order number, it is derived from the Idempotency-Key: a retry after an unknown outcome finds the order
 * of the first attempt and doesn't place a second one.
 */
export async function sellVoucher(
  upstream: Pick<Upstream, 'client' | 'release' | 'giftCards' | 'findUnknownMerchant'>,
  write: Write,
  input: VoucherInput,
): Promise<CommitPhase<IssuedVoucher>> {
  const { client, release, giftCards } = upstream
  const { settings } = write.service
  const { currency } = settings
  const gateway = getGateway(input, settings)
  const sell = async () => {
    const { card, errors, today } = await checkSale(release, write, input)
    throwIfAny(errors)
    if (card === undefined) throw toApiError([giftCardNotFound(settings)])
    throwIfAny(await giftCards.check(card))
    const deliveryDate = input.deliveryDate === today ? null : (input.deliveryDate ?? null)
    const { skuId, voucherType } = card
    return placeUnderFreeNumber(upstream, write, { ...input, gateway, deliveryDate, skuId, voucherType }, input)
  }
  const sale = await sell().catch(async error => {
    // The date, the settings or the back office may have changed: an earlier attempt may have sold what is rejected now.
    const isInDoubt = write.previouslyInDoubt() && isRejection(error)
    const earlier = isInDoubt ? await findEarlierSale(client, write, { ...input, gateway }) : undefined
    if (!earlier) throw error
    return earlier
  })
  const zero = formatAmount(0n, getDecimals(currency))
  return async tx => {
    if (!(await recordVoucherSale(tx, write.service, sale))) throw createNumberTaken()
    return {
      number: null,
      pin: null,
      status: 'pending',
      currency,
      orderNumber: sale.number,
      originalAmount: input.amount,
      usedAmount: zero,
      availableAmount: zero,
      expiryDate: null,
      lockedUntil: null,
      email: null,
    }
  }
}

/** Places the order under the caller's number or a derived number. */
async function placeUnderFreeNumber(
  upstream: Pick<Upstream, 'client' | 'findUnknownMerchant'>,
  write: Write,
  sale: Omit<VoucherOrder, 'number' | 'personId'>,
  input: VoucherInput,
): Promise<VoucherSale> {
  const { gateway, amount } = sale
  let receiver: string | undefined
  for await (const number of lockSaleNumbers(write, sale.orderNumber)) {
    receiver ??= await findOrCreateReceiver(upstream.client, write, sale)
    const personId = receiver
    const placed = await submitSale(upstream, write, { ...sale, number, personId }, input)
    if (placed !== 'taken') return { number, gateway, amount, personId, orderId: placed.id }
  }
  throw createNumberTaken()
}

const createNumberTaken = () => withPointer('/orderNumber', new ApiError('order_number_taken'))

/** Returns the back office's identifier of the gift card SKU. The setting contains the platform's SKU or this identifier. */
export async function resolveGiftCardSkuId(db: Db, service: Service): Promise<string | undefined> {
  const skuId = await findGiftCardSkuId(db, service)
  if (skuId !== undefined) return skuId
  // The web store may not export the SKU. The back office rejects an invalid identifier at the sale.
  const { giftCardSku } = service.settings
  return giftCardSku !== null && /^\d{1,18}$/.test(giftCardSku) ? giftCardSku : undefined
}

/** Returns the gift card that vouchers are sold as. Returns undefined if the settings are incomplete. */
export async function findGiftCard(db: Db, service: Service, skuId: string | undefined): Promise<GiftCard | undefined> {
  const { voucherType } = service.settings
  if (skuId === undefined || voucherType === null) return
  const stored = (await findStockKey(db, service, skuId)) ?? { productId: undefined, wasInStock: false }
  return { skuId, voucherType, ...stored }
}

async function checkSale(release: ReleaseReader, write: Write, input: VoucherInput) {
  const { stage, service } = write
  const { settings } = service
  const { days, card, skuId, gateways } = await stage(async tx => {
    const [validDays, giftCardSkuId, knownGateways] = await Promise.all([
      readVoucherDates(tx, service),
      resolveGiftCardSkuId(tx, service),
      listGatewayNames(tx, service),
    ])
    return {
      days: validDays,
      skuId: giftCardSkuId,
      gateways: knownGateways,
      card: await findGiftCard(tx, service, giftCardSkuId),
    }
  })
  const errors: FieldError[] = findMissingSettings(settings, skuId !== undefined)
  errors.push(...validateIssue(input, settings, { gateways, ...days }))
  const { deliveryDate, orderNumber } = input
  // Earlier releases ignore the date, and a present must not arrive early.
  if (deliveryDate && deliveryDate > days.today && !(await release.has('voucherDeliveryDate')))
    errors.push({
      pointer: '/deliveryDate',
      code: 'invalid_field',
      detail: `\`deliveryDate\` must be today: other dates need back-office version ${featureReleases.voucherDeliveryDate} or later.`,
    })
  if ((input.billingAddress.country?.length ?? 0) > maxCountryLength)
    errors.push({
      pointer: '/billingAddress/country',
      code: 'invalid_field',
      detail: `The back office accepts at most ${maxCountryLength} characters.`,
    })
  if (orderNumber && orderNumber.length > maxNumberLength)
    errors.push({
      pointer: '/orderNumber',
      code: 'invalid_field',
      detail: `\`orderNumber\` must have at most ${maxNumberLength} characters.`,
    })
  return { card, errors, today: days.today }
}

const maxNumberLength = 30

/** Submits the order, unless an earlier attempt has. `id` is undefined if the back office doesn't return it or no longer has it. */
async function submitSale(
  { client, findUnknownMerchant }: Pick<Upstream, 'client' | 'findUnknownMerchant'>,
  write: Write,
  sale: VoucherOrder,
  input: VoucherInput,
): Promise<{ id: string | undefined } | 'taken'> {
  if (write.isDryRun) {
    const unknown = await findUnknownMerchant([sale.gateway])
    if (unknown) throw translateOrderError(unknown.error, input)
    if (sale.orderNumber && (await fetchOrderByNumber(client, sale.number))) return 'taken'
  }
  const path = ['Persons', sale.personId, 'Orders']
  const body = buildSalePayload(client.connection, sale)
  let notApplied: NotApplied | undefined
  try {
    return { id: (await performWrite(client, write, { endpoint: 'orders', method: 'POST', path, body })).id }
  } catch (error) {
    if (error instanceof NotApplied) notApplied = error
    else if (findRetailApiError(error)?.code !== numberExists) throw translateOrderError(error, input)
    else write.recordEffect('applied')
  }
  const order = await fetchOrderByNumber(client, sale.number, sale.personId)
  if (order && isSameSale(order, sale)) return { id: readText(order, 'Id') ?? undefined }
  if (notApplied) throw notApplied
  // A derived number can't belong to another order, even if the order can no longer be read.
  return !order && !sale.orderNumber ? { id: undefined } : 'taken'
}

/** Translates an order's error for the buyer of a voucher. Errors of fields that the buyer can't set are 502. */
function translateOrderError(error: unknown, input: VoucherInput): unknown {
  const code = findRetailApiError(error)?.code
  if (!(error instanceof ApiError) || code === undefined) return error
  const { cause } = error
  const withCause = (...[errorCode, detail]: ConstructorParameters<typeof ApiError>) =>
    Object.assign(new ApiError(errorCode, detail), { cause })
  if (code === 5129) return withCause('voucher_not_configured', "The back office doesn't sell the gift card SKU.")
  if (code === 5004) return withPointer('/receiverEmail', error)
  if (code === 5014) return pointToTooLongText(error, input)
  // Without a gateway in the request, the setting is wrong.
  if (code === 5100) return input.gateway ? withPointer('/gateway', error) : withCause('unknown_gateway', error.message)
  const isForeign = error.errors.some(({ pointer }) => pointer !== undefined && !voucherFields.includes(pointer))
  return isForeign ? withCause('back_office_error') : error
}

const voucherFields = ['/billingAddress', '/receiverEmail', '/receiverName', '/subject', '/message']

type Receiver = Pick<VoucherInput, 'receiverName' | 'receiverEmail' | 'mobile'>

/**
 * Returns the identifier of the person with the receiver's email address. Creates the person, without marketing consent, if there is
 * none. A retry after an unknown outcome finds the person that the first attempt created.
 */
async function findOrCreateReceiver(client: Client, write: Write, receiver: Receiver): Promise<string> {
  const email = receiver.receiverEmail
  const existing = await fetchPersonByEmail(client, email)
  if (existing) return readPersonId(existing)
  const createdId = await createPerson(client, write, receiver)
  if (createdId !== undefined) return createdId
  const concurrent = await fetchPersonByEmail(client, email)
  if (concurrent) return readPersonId(concurrent)
  const detail = "The back office has a person with this address, but the person can't be read."
  throw toApiError([{ pointer: '/receiverEmail', code: 'invalid_field', detail }])
}

/** Creates a person and returns its identifier. Returns undefined if the address was taken concurrently, or if the response has no identifier. */
async function createPerson(client: Client, write: Write, { receiverName, receiverEmail, mobile }: Receiver) {
  // The receiver's address is unknown: the address of the request is the payer's.
  const person = { ...splitName(receiverName), contact: { email: receiverEmail }, ...(mobile && { mobile }) }
  const startDate = toLocalTime(Date.now(), client.connection.timeZone).slice(0, 10)
  const body = buildNewPerson(person, { privacy: true, references: new Map() }, startDate)
  try {
    return (await performWrite(client, write, { endpoint: 'persons', method: 'POST', path: ['Persons'], body })).id
  } catch (error) {
    const rejection = findRetailApiError(error)
    if (rejection?.code === emailTaken) return
    // The pointers of a person's errors don't apply to the caller's body.
    if (rejection) throw Object.assign(new ApiError('back_office_error'), { cause: rejection })
    throw error
  }
}

/** The longest first name and surname that the back office accepts, in UTF-16 code units. */
const maxNameLength = 20

/** Splits a name at its last space. A single word is the surname. Both parts are required and truncated. */
function splitName(name: string) {
  const words = name.trim().split(/\s+/)
  const surname = words.pop() ?? name
  return { firstname: truncate(words.join(' ')) || '-', surname: truncate(surname) }
}

/** Truncates to .NET's string length, which counts UTF-16 code units. */
const truncate = (text: string) => text.slice(0, maxNameLength).toWellFormed().replaceAll('\ufffd', '').trim()
