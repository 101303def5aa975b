import type { VoucherInput } from '../../../domain/vouchers/vouchers.ts'
import type { Connection } from '../client/connection.ts'
import { buildPayload } from '../xml/payload.ts'
import { findElements, readAmount, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { buildGatewayPayment } from './payment.ts'

/** A voucher as it is sold, under a number and to a person that the back office knows. */
export interface VoucherOrder extends VoucherInput {
  gateway: string | null
  number: string
  personId: string
  skuId: string
  voucherType: string
}

/**
 * Whether an order is this sale: for the same person, of the same voucher, and of nothing else. Nothing but a voucher has a receiver; what
 * SKU it was sold as may be set otherwise by now.
 */
export function isSameSale(
  order: Xml | undefined,
  sale: Pick<VoucherOrder, 'personId' | 'amount' | 'receiverName' | 'senderName'>,
): boolean {
  const [line, ...others] = findElements(order, 'OrderDetails', 'OrderDetail')
  return (
    line !== undefined &&
    others.length === 0 &&
    readText(order, 'PersonId') === sale.personId &&
    readAmount(line, sale.amount.split('.')[1]?.length ?? 0, 'Price') === sale.amount &&
    readText(line, 'ReceiverName') === sale.receiverName.trim() &&
    readText(line, 'SenderName') === sale.senderName.trim()
  )
}

/** The order in the guide's order of elements. The payer is known by name and address alone; whom to write to is the receiver. */
export function buildSalePayload(connection: Pick<Connection, 'gateways'>, sale: VoucherOrder): string {
  const { amount: worth, receiverName, receiverEmail, senderName, billingAddress: payer } = sale
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
    ['Payments', [buildGatewayPayment(connection, { gateway: sale.gateway, amount: worth })]],
  ])
}
