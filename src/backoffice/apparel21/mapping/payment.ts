import type { Connection } from '../client/connection.ts'
import { type Field, orderFields } from '../xml/payload.ts'

const template = [
  ...(['Origin', 'Amount', 'CardType', 'Stan', 'Reference', 'AuthCode', 'Message'] as const),
  ...(['MerchantId', 'AccountId', 'VoucherNumber', 'ValidationId'] as const),
]

interface GatewayPayment {
  /** Null: it is not known, and not told. */
  gateway: string | null
  /** With the currency's decimals. */
  amount: string
  /** The gateway's own number of the payment. */
  reference?: string | null | undefined
}

/** A payment through a gateway. One of which the connection says nothing is a card of that name, without a merchant. */
export function buildGatewayPayment(
  { gateways = {} }: Pick<Connection, 'gateways'>,
  { gateway, amount, reference }: GatewayPayment,
): Field {
  const merchant = gateway !== null && Object.hasOwn(gateways, gateway) ? gateways[gateway] : undefined
  const { origin = 'CreditCard', merchantId, cardType = gateway ?? undefined, accountId } = merchant ?? {}
  const number = reference || undefined
  return [
    'PaymentDetail',
    orderFields(template, {
      Origin: origin,
      Amount: amount,
      CardType: cardType,
      Stan: number,
      Reference: number,
      MerchantId: merchantId,
      AccountId: accountId,
    }),
  ]
}

/** A payment by a gift voucher that was validated; the id of the validation is the back office's. */
export const buildVoucherPayment = (amount: string, number: string, validationId: string): Field => [
  'PaymentDetail',
  orderFields(template, {
    Origin: 'GiftVoucher',
    Amount: amount,
    CardType: 'GiftVoucher',
    VoucherNumber: number,
    ValidationId: validationId,
  }),
]

/** Of an order with nothing to pay. */
export const buildZeroPayment = (nothing: string): Field => [
  'PaymentDetail',
  orderFields(template, { Origin: 'CreditCard', Amount: nothing }),
]
