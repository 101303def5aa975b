import type { Connection } from '../client/connection.ts'
import { type Field, orderFields } from '../xml/payload.ts'

const template = [
  ...(['Origin', 'Amount', 'CardType', 'Stan', 'Reference', 'AuthCode', 'Message'] as const),
  ...(['MerchantId', 'AccountId', 'VoucherNumber', 'ValidationId'] as const),
]

interface GatewayPayment {
  /** The gateway's name. Null if it is unknown; no card type is sent then. */
  gateway: string | null
  /** A decimal with the currency's number of decimal places. */
  amount: string
  /** The gateway's own number of this payment. */
  reference?: string | null | undefined
}

/** Builds a payment through a gateway. A gateway without a merchant in the settings is sent as a card type of that name. */
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

/** Builds a payment by a validated gift voucher. `validationId` is the back office's own. */
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

/** Builds the payment of an order whose total is 0. */
export const buildZeroPayment = (zero: string): Field => [
  'PaymentDetail',
  orderFields(template, { Origin: 'CreditCard', Amount: zero }),
]
