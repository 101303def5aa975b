import { createRejection } from '../http/errors.ts'
import type { Voucher } from '../shop/records.ts'
import type { Payment } from '../shop/sales.ts'
import { roundToCents } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import type { Payload } from '../xml/payload.ts'
import { readDecimal, readText } from './posted.ts'
import { getAvailable, isExpired } from './vouchers.ts'

export const paymentShape = shape(
  'Origin Amount CardType Stan Reference AuthCode AccountType Settlement Message MerchantId AccountId VoucherGateway VoucherNumber ValidationId',
)
/** The payment of a return has its elements in another order. */
export const refundShape = shape('MerchantId CardType Stan Origin Amount Reference')

const origins = ['CreditCard', 'DirectDebit', 'Zip', 'GiftVoucher', 'AdyenWallet', 'Openpay']
const wallets = ['applepay', 'paywithgoogle', 'googlepay']

export function readPayment(payload: Payload, { settings }: World): Payment {
  const origin = readText(payload, 'Origin', 250)
  if (!origins.includes(origin)) throw createRejection(5028, { detail: origin })
  const amount = readDecimal(payload, 'Amount')
  if (amount === undefined) throw createRejection(5109, { detail: 'Amount' })
  const cardType = readText(payload, 'CardType', 250)
  if (origin === 'AdyenWallet' && !cardType) throw createRejection(5213)
  if (origin === 'AdyenWallet' && !wallets.includes(cardType.toLowerCase())) throw createRejection(5212)
  const merchantId = readText(payload, 'MerchantId', 100)
  if (merchantId && !settings.merchantIds.includes(merchantId)) throw createRejection(5100, { detail: merchantId })
  return {
    origin,
    amount,
    cardType,
    merchantId,
    stan: readText(payload, 'Stan', 250),
    reference: readText(payload, 'Reference', 250),
    authCode: readText(payload, 'AuthCode', 250),
    message: readText(payload, 'Message', 4_000),
    voucherNumber: origin === 'GiftVoucher' ? readText(payload, 'VoucherNumber', 50) : '',
    validationId: readText(payload, 'ValidationId', 36),
  }
}

/** Returns the voucher of a payment. Throws if it can't be used. */
function requireUsableVoucher(payment: Payment, world: World): Voucher {
  if (!/^[\w-]{1,50}$/.test(payment.voucherNumber)) throw createRejection(5071)
  const voucher = world.shop.vouchers.get(payment.voucherNumber)
  if (!voucher || voucher.state === 'suspended') throw createRejection(5056)
  if (!voucher.secure) throw createRejection(5055)
  if (voucher.state === 'range suspended') throw createRejection(5059)
  if (voucher.state === 'not issued') throw createRejection(5057)
  if (isExpired(voucher, world)) throw createRejection(5065)
  if (!voucher.validationId || payment.validationId.toLowerCase() !== voucher.validationId) throw createRejection(5061)
  const remaining = getAvailable(voucher, world)
  if (payment.amount > remaining) throw createRejection(5062)
  if (voucher.wholeOnly && payment.amount < remaining) throw createRejection(5066)
  return voucher
}

/** Checks the voucher payments of an order. Returns a function that redeems them. */
export function prepareDraws(payments: readonly Payment[], world: World): (orderId: number) => void {
  const draws = payments.filter(payment => payment.origin === 'GiftVoucher')
  if (new Set(draws.map(payment => payment.voucherNumber)).size < draws.length) throw createRejection(5070)
  const pairs = draws.map(payment => ({ payment, voucher: requireUsableVoucher(payment, world) }))
  return orderId => {
    for (const { payment, voucher } of pairs) {
      voucher.used = roundToCents(voucher.used + payment.amount)
      // The order ends the lock, and its validation ID becomes invalid.
      voucher.lockedUntil = 0
      voucher.validationId = ''
      world.recordEffect('voucher drawn', voucher.number, { order: orderId, amount: payment.amount })
    }
  }
}
