import { amount, decimalsOf } from '../../domain/money.ts'
import { issueFaults, unconfigured } from '../../domain/voucher-rules.ts'
import type { IssuedVoucher, VoucherInput } from '../../domain/vouchers.ts'
import type { Write } from '../../domain/write.ts'
import { ApiError, type Fault, faulty } from '../../errors.ts'
import { gatewayNames } from '../../store/gateways.ts'
import { beginVoucherSale, finishVoucherSale, giftCardSkuId } from '../../store/upstream-voucher-sales.ts'
import { voucherDays } from '../../store/voucher-issue.ts'
import type { Client } from './http.ts'
import { payload } from './payload.ts'
import { receiverOf } from './receiver.ts'
import { refusalBehind } from './refusal.ts'
import { type Release, since } from './release.ts'
import { every, money, text } from './values.ts'
import type { Xml } from './xml.ts'

interface Sale extends VoucherInput {
  number: string
  personId: string
  skuId: string
  voucherType: string
}

/**
 * Sells a voucher: an order of the gift card SKU. The back office makes number and PIN later, e-mails them itself, and tells nobody
 * else, so what is answered is pending. The order's number is derived from the Idempotency-Key where none is given: a repeat after
 * an outcome that nobody knows finds the order of the first attempt, and makes no second one.
 */
export async function sellVoucher(
  client: Client,
  release: Release,
  write: Write,
  input: VoucherInput,
): Promise<IssuedVoucher> {
  const { tx, service } = write
  const { currency, voucherType } = service.settings
  const { skuId, faults, today } = await faultsOf(release, write, input)
  const [first, ...more] = faults
  if (first || voucherType === null || skuId === undefined) throw faulty([first ?? unknownSku(write), ...more])

  const number = input.orderNumber ?? `V${write.reference.slice(0, 20).toUpperCase()}`
  if (!(await beginVoucherSale(tx, service, { number, gateway: input.gateway, amount: input.amount })))
    throw numberTaken()
  const personId = await receiverOf(client, input)
  const deliveryDate = input.deliveryDate === today ? null : input.deliveryDate
  const orderId = await placeOrder(client, { ...input, deliveryDate, number, personId, skuId, voucherType })
  await finishVoucherSale(tx, service, { number, personId, orderId })
  const nothing = amount(0n, decimalsOf(currency))
  return {
    ...{ number: null, pin: null, status: 'pending', currency, orderNumber: number },
    ...{ originalAmount: input.amount, usedAmount: nothing, availableAmount: nothing },
    ...{ expiryDate: null, lockedUntil: null, email: null },
  }
}

async function faultsOf(release: Release, write: Write, input: VoucherInput) {
  const { tx, service } = write
  const { settings } = service
  const days = await voucherDays(tx, service)
  const skuId = settings.giftCardSku === null ? undefined : await giftCardSkuId(tx, service, settings.giftCardSku)
  const faults: Fault[] = unconfigured(settings)
  if (settings.giftCardSku !== null && skuId === undefined) faults.push(unknownSku(write))
  faults.push(...issueFaults(input, settings, { gateways: await gatewayNames(tx, service), ...days }))
  const { deliveryDate, orderNumber } = input
  // Releases before ignore the day, and a present that comes early is spoilt.
  if (deliveryDate && deliveryDate > days.today && !(await release.has('voucherDeliveryDate')))
    faults.push({
      pointer: '/deliveryDate',
      code: 'invalid_field',
      detail: `\`deliveryDate\` can only be today: other days need release ${since.voucherDeliveryDate} of the back office.`,
    })
  if (orderNumber && orderNumber.length > longestNumber)
    faults.push({
      pointer: '/orderNumber',
      code: 'invalid_field',
      detail: `\`orderNumber\` has at most ${longestNumber} characters.`,
    })
  return { skuId, faults, today: days.today }
}

const longestNumber = 30

const unknownSku = ({ service }: Write): Fault => ({
  code: 'voucher_not_configured',
  detail: `The back office has no SKU \`${service.settings.giftCardSku}\`, which the setting \`giftCardSku\` names.`,
})

function numberTaken() {
  const code = 'order_number_taken'
  return faulty([{ pointer: '/orderNumber', code, detail: new ApiError(code).message }])
}

/** Places the order, unless it is there already. Returns its identifier; undefined where the back office has forgotten it. */
async function placeOrder(client: Client, sale: Sale): Promise<string | undefined> {
  const body = orderOf(sale)
  try {
    const { id } = await client.write({
      ...{ endpoint: 'orders', method: 'POST', path: ['Persons', sale.personId, 'Orders'], body },
    })
    return id ?? text(await orderNumbered(client, sale.number), 'Id') ?? undefined
  } catch (error) {
    if (refusalBehind(error)?.code !== 5052) throw asOfVoucher(error)
  }
  const placed = await orderNumbered(client, sale.number)
  // A number of our own making is nobody else's, whatever is still known of its order.
  if (sale.orderNumber ? !isOrderOf(placed, sale) : placed && !isOrderOf(placed, sale)) throw numberTaken()
  return text(placed, 'Id') ?? undefined
}

const orderNumbered = async (client: Client, number: string) =>
  // What could stand for another path is asked for by nobody.
  /^[\w-]+$/.test(number)
    ? client.document({ endpoint: 'orders', path: ['OrderNumbers', number], roots: ['Order'] })
    : undefined

/** Whether an order is this sale: for the same person, of the same voucher, and of nothing else. */
function isOrderOf(order: Xml | undefined, sale: Sale): boolean {
  const [line, ...others] = every(order, 'OrderDetails', 'OrderDetail')
  return (
    line !== undefined &&
    others.length === 0 &&
    text(order, 'PersonId') === sale.personId &&
    text(line, 'SkuId') === sale.skuId &&
    money(line, sale.amount.split('.')[1]?.length ?? 0, 'Price') === sale.amount &&
    text(line, 'ReceiverName') === sale.receiverName.trim() &&
    text(line, 'SenderName') === sale.senderName.trim()
  )
}

/** The order in the guide's order of elements. The payer is known by name and address alone; whom to write to is the receiver. */
function orderOf(sale: Sale): string {
  const { amount: worth, receiverName, receiverEmail, senderName, billingAddress: payer } = sale
  return payload('Order', [
    ['OrderNumber', sale.number],
    ['PersonId', sale.personId],
    [
      'Addresses',
      [
        [
          'Billing',
          [
            ['ContactName', senderName],
            ['AddressLine1', payer.addressLine1],
            ['AddressLine2', payer.addressLine2],
            ['City', payer.city],
            ['State', payer.state],
            ['Postcode', payer.postcode],
            ['Country', payer.country],
          ],
        ],
        ['Delivery', [['ContactName', receiverName]]],
      ],
    ],
    ['Contacts', [['Email', receiverEmail]]],
    [
      'DeliveryContacts',
      [
        ['Email', receiverEmail],
        ['Phones', [['Mobile', sale.mobile ?? undefined]]],
      ],
    ],
    [
      'OrderDetails',
      [
        [
          'OrderDetail',
          [
            ['SkuId', sale.skuId],
            ['Quantity', 1],
            ['Price', worth],
            ['Value', worth],
            ['SenderName', senderName],
            ['ReceiverName', receiverName],
            [
              'ExtraVoucherInformation',
              [
                ['VoucherType', sale.voucherType],
                ['EmailSubject', sale.subject],
                ['Email', receiverEmail],
                ['PersonalisedMessage', sale.message ?? undefined],
                ['DeliveryDate', sale.deliveryDate ?? undefined],
              ],
            ],
            ['TaxPercent', 0],
          ],
        ],
      ],
    ],
    ['Payments', [['PaymentDetail', paymentOf(sale)]]],
  ])
}
