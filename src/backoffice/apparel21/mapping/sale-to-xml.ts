import type { VoucherInput } from '../../../domain/vouchers/vouchers.ts'
import type { Connection } from '../client/connection.ts'
import { buildPayload } from '../xml/payload.ts'
import { findElements, readAmount, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { buildGatewayPayment } from './payment.ts'

/** The order that sells a voucher, with the identifiers of the back office. */
export interface VoucherOrder extends VoucherInput {
  gateway: string | null
  number: string
  personId: string
  skuId: string
  voucherType: string
}

/**
 * True if an order has the same person and only the same voucher. The SKU is not compared, because the setting may have changed. Only
 * vouchers have a receiver.
 */
export function isSameSale(
  order: Xml | undefined,
  sale: Pick<VoucherOrder, 'personId' | 'amount' | 'receiverName' | 'senderName'>,
): boolean {
  const [line, ...furtherLines] = findElements(order, 'OrderDetails', 'OrderDetail')
  return (
    line !== undefined &&
    furtherLines.length === 0 &&
    readText(order, 'PersonId') === sale.personId &&
    readAmount(line, sale.amount.split('.')[1]?.length ?? 0, 'Price') === sale.amount &&
    readText(line, 'ReceiverName') === sale.receiverName.trim() &&
    readText(line, 'SenderName') === sale.senderName.trim()
  )
}

/** Builds the payload in the order of elements that the Retail API requires. The payer has only a name and an address; the contact is the receiver. */
export function buildSalePayload(connection: Pick<Connection, 'gateways'>, sale: VoucherOrder): string {
  const { amount: value, receiverName, receiverEmail, senderName, billingAddress: payer } = sale
  return buildPayload('Order', [
    ['OrderNumber', sale.number],
    ['PersonId', sale.personId],
    [
      'Addresses',
      [
        [
          'Billing',
          [
            ['ContactName', payer.contactName || senderName],
            ['CompanyName', payer.companyName],
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
            ['Price', value],
            ['Value', value],
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
    ['Payments', [buildGatewayPayment(connection, { gateway: sale.gateway, amount: value })]],
  ])
}
