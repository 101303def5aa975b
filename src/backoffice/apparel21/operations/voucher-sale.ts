import type { Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import { findMissingSettings, getGateway, giftCardNotFound, validateIssue } from '../../../domain/vouchers/issue.ts'
import { withPointer } from '../../../domain/vouchers/redemption.ts'
import type { IssuedVoucher, VoucherInput } from '../../../domain/vouchers/vouchers.ts'
import { ApiError, type FieldError, toApiError } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { findStockKey } from '../../../store/catalog/skus.ts'
import { gatewayNames } from '../../../store/tenancy/gateways.ts'
import { voucherDays } from '../../../store/vouchers/issue.ts'
import { noteVoucherSale, type VoucherSale } from '../../../store/vouchers/upstream-sales.ts'
import { type CommitPhase, isRejection, NotApplied, type Write } from '../../../writes/write.ts'
import { giftCardSkuId } from '../../vouchers/gift-card.ts'
import type { Client } from '../client/client.ts'
import { performWrite } from '../client/perform-write.ts'
import { featureReleases, type ReleaseReader } from '../client/release.ts'
import { findRetailApiError, numberExists } from '../client/retail-api-error.ts'
import { maxCountryLength } from '../mapping/order-to-xml.ts'
import { buildSalePayload, isSameSale, type VoucherOrder } from '../mapping/sale-to-xml.ts'
import { findEarlierSale, lockSaleNumbers } from '../queries/earlier-sale.ts'
import type { GiftCard } from '../queries/gift-cards.ts'
import { fetchOrderByNumber } from '../queries/order-search.ts'
import type { Upstream } from '../queries/upstream.ts'
import { readText } from '../xml/values.ts'
import { pointToText } from './error-pointers.ts'
import { findOrCreateReceiver } from './receiver.ts'

/**
 * Sells a voucher: an order of the gift card SKU. The back office makes number and PIN later, e-mails them itself, and tells nobody
 * else, so what is answered is pending. The order's number is derived from the Idempotency-Key where none is given: a repeat after
 * an outcome that nobody knows finds the order of the first attempt, and makes no second one.
 */
export async function sellVoucher(
  { client, release, giftCards }: Pick<Upstream, 'client' | 'release' | 'giftCards'>,
  write: Write,
  input: VoucherInput,
): Promise<CommitPhase<IssuedVoucher>> {
  const { settings } = write.service
  const { currency } = settings
  const gateway = getGateway(input, settings)
  const sell = async () => {
    const { card, faults, today } = await checkSale(release, write, input)
    throwIfAny(faults)
    if (card === undefined) throw toApiError([giftCardNotFound(settings)])
    throwIfAny(await giftCards.check(card))
    const deliveryDate = input.deliveryDate === today ? null : (input.deliveryDate ?? null)
    const { skuId, voucherType } = card
    return placeUnderFreeNumber(client, write, { ...input, gateway, deliveryDate, skuId, voucherType }, input)
  }
  const sale = await sell().catch(async error => {
    // Days pass, settings and head office change: what is refused by now may be sold.
    const isInDoubt = write.wasOpen() && isRejection(error)
    const earlier = isInDoubt ? await findEarlierSale(client, write, { ...input, gateway }) : undefined
    if (!earlier) throw error
    return earlier
  })
  const nothing = formatAmount(0n, getDecimals(currency))
  return async tx => {
    if (!(await noteVoucherSale(tx, write.service, sale))) throw createNumberTaken()
    return {
      number: null,
      pin: null,
      status: 'pending',
      currency,
      orderNumber: sale.number,
      originalAmount: input.amount,
      usedAmount: nothing,
      availableAmount: nothing,
      expiryDate: null,
      lockedUntil: null,
      email: null,
    }
  }
}

/** Places the order under the number that is given, or one of our own making. */
async function placeUnderFreeNumber(
  client: Client,
  write: Write,
  sale: Omit<VoucherOrder, 'number' | 'personId'>,
  input: VoucherInput,
): Promise<VoucherSale> {
  const { gateway, amount } = sale
  let receiver: string | undefined
  for await (const number of lockSaleNumbers(write, sale.orderNumber)) {
    receiver ??= await findOrCreateReceiver(client, write, sale)
    const personId = receiver
    const placed = await submitSale(client, write, { ...sale, number, personId }, input)
    if (placed !== 'taken') return { number, gateway, amount, personId, orderId: placed.id }
  }
  throw createNumberTaken()
}

const createNumberTaken = () => withPointer('/orderNumber', new ApiError('order_number_taken'))

/** The back office's identifier of the SKU that vouchers are sold as: the setting names it as shoppers know it, or by that very identifier. */
export async function findGiftCardSkuId(db: Db, service: Service): Promise<string | undefined> {
  const known = await giftCardSkuId(db, service)
  if (known !== undefined) return known
  // The web store need not export it. An identifier that there is not is refused when it is sold.
  const { giftCardSku } = service.settings
  return giftCardSku !== null && /^\d{1,18}$/.test(giftCardSku) ? giftCardSku : undefined
}

/** What vouchers are sold as; undefined where settings do not say, or nothing is known by the name that they say. */
export async function findGiftCard(db: Db, service: Service, skuId: string | undefined): Promise<GiftCard | undefined> {
  const { voucherType } = service.settings
  if (skuId === undefined || voucherType === null) return
  const kept = (await findStockKey(db, service, skuId)) ?? { productId: undefined, wasInStock: false }
  return { skuId, voucherType, ...kept }
}

async function checkSale(release: ReleaseReader, write: Write, input: VoucherInput) {
  const { step, service } = write
  const { settings } = service
  const { days, card, skuId, gateways } = await step(async tx => {
    const [days, skuId, gateways] = await Promise.all([
      voucherDays(tx, service),
      findGiftCardSkuId(tx, service),
      gatewayNames(tx, service),
    ])
    return { days, skuId, gateways, card: await findGiftCard(tx, service, skuId) }
  })
  const faults: FieldError[] = findMissingSettings(settings, skuId !== undefined)
  faults.push(...validateIssue(input, settings, { gateways, ...days }))
  const { deliveryDate, orderNumber } = input
  // Releases before ignore the day, and a present that comes early is spoilt.
  if (deliveryDate && deliveryDate > days.today && !(await release.has('voucherDeliveryDate')))
    faults.push({
      pointer: '/deliveryDate',
      code: 'invalid_field',
      detail: `\`deliveryDate\` can only be today: other days need release ${featureReleases.voucherDeliveryDate} of the back office.`,
    })
  if ((input.billingAddress.country?.length ?? 0) > maxCountryLength)
    faults.push({
      pointer: '/billingAddress/country',
      code: 'invalid_field',
      detail: `The back office takes at most ${maxCountryLength} characters here.`,
    })
  if (orderNumber && orderNumber.length > maxNumberLength)
    faults.push({
      pointer: '/orderNumber',
      code: 'invalid_field',
      detail: `\`orderNumber\` has at most ${maxNumberLength} characters.`,
    })
  return { card, faults, today: days.today }
}

const maxNumberLength = 30

/** Places the order, unless an attempt before did. Its identifier is undefined where the back office does not tell, or has forgotten it. */
async function submitSale(
  client: Client,
  write: Write,
  sale: VoucherOrder,
  input: VoucherInput,
): Promise<{ id: string | undefined } | 'taken'> {
  const path = ['Persons', sale.personId, 'Orders']
  const body = buildSalePayload(client.connection, sale)
  let neverTold: NotApplied | undefined
  try {
    return { id: (await performWrite(client, write, { endpoint: 'orders', method: 'POST', path, body })).id }
  } catch (error) {
    if (error instanceof NotApplied) neverTold = error
    else if (findRetailApiError(error)?.code !== numberExists) throw translateOrderError(error, input)
    else write.note('done')
  }
  const order = await fetchOrderByNumber(client, sale.number, sale.personId)
  if (order && isSameSale(order, sale)) return { id: readText(order, 'Id') ?? undefined }
  if (neverTold) throw neverTold
  // A number of our own making is nobody else's, whatever is still known of its order.
  return !order && !sale.orderNumber ? { id: undefined } : 'taken'
}

/** What the errors of an order are to whoever buys a voucher; those that point into an order are faults of ours. */
function translateOrderError(error: unknown, input: VoucherInput): unknown {
  const code = findRetailApiError(error)?.code
  if (!(error instanceof ApiError) || code === undefined) return error
  const { cause } = error
  const told = (...[of, detail]: ConstructorParameters<typeof ApiError>) =>
    Object.assign(new ApiError(of, detail), { cause })
  if (code === 5129) return told('voucher_not_configured', "The back office doesn't sell the gift card SKU.")
  if (code === 5004) return withPointer('/receiverEmail', error)
  if (code === 5014) return pointToText(error, input)
  // Where none is named it is the setting's.
  if (code === 5100) return input.gateway ? withPointer('/gateway', error) : told('unknown_gateway', error.message)
  const isForeign = error.errors.some(({ pointer }) => pointer !== undefined && !voucherFields.includes(pointer))
  return isForeign ? told('back_office_error') : error
}

const voucherFields = ['/billingAddress', '/receiverEmail', '/receiverName', '/subject', '/message']
