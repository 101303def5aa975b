import type { VoucherInput } from '../../../domain/vouchers/vouchers.ts'
import type { Connection } from '../client/connection.ts'
import { payload } from '../xml/payload.ts'
import { every, money, text } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'
import { paymentThrough } from './payment.ts'

/** A voucher as it is sold, under a number and to a person that the back office knows. */
export interface Sale extends VoucherInput {
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
export function isThisSale(
  order: Xml | undefined,
  sale: Pick<Sale, 'personId' | 'amount' | 'receiverName' | 'senderName'>,
): boolean {
  const [line, ...others] = every(order, 'OrderDetails', 'OrderDetail')
  return (
    line !== undefined &&
    others.length === 0 &&
    text(order, 'PersonId') === sale.personId &&
    money(line, sale.amount.split('.')[1]?.length ?? 0, 'Price') === sale.amount &&
    text(line, 'ReceiverName') === sale.receiverName.trim() &&
    text(line, 'SenderName') === sale.senderName.trim()
  )
}

/** The order in the guide's order of elements. The payer is known by name and address alone; whom to write to is the receiver. */
export function salePayload(connection: Pick<Connection, 'gateways'>, sale: Sale): string {
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
    ['Payments', [paymentThrough(connection, { gateway: sale.gateway, amount: worth })]],
  ])
}
