import { OrderRow } from '../../domain/orders/order-row.ts'
import { VoucherRow } from '../../domain/vouchers/voucher-row.ts'
import { mergeImportedOrders } from '../../store/orders/imported-orders.ts'
import { importVouchers } from '../../store/vouchers/imported-vouchers.ts'
import type { ImportType } from './import-type.ts'
import { ofRefusedOrder } from './orders.ts'
import { ordersFrom, vouchersFrom } from './prepare.ts'
import { orderRule, voucherRule } from './rules.ts'

/** The open business of an earlier system. */
export const orders = {
  description:
    'One line of an order of an earlier system, or one of its payments, or both; what the rows of one order share is repeated, or stands in the first one alone.',
  remarks:
    'The rows of an order stand next to each other, and are taken as a whole or not at all: the values of the lines and the freight have to come to the `total`, and so do the payments, where there are any; a payment that several rows repeat is one. The first row has `customerId`, `placedAt` and `total`, a line its `sku` or `skuId`, its `quantity` and `price`. A line is `shipped` unless its `status` says otherwise, and `returned` once all its units are. An order that is imported again in other words takes the place of the one before, all of it; once something has happened to it here (shipped, cancelled, returned) it is rejected, and so is the number of an order that was placed here.',
  shape: OrderRow,
  key: [],
  toldApart: ['orderNumber', 'sequence'],
  together: 'orderNumber',
  inPaths: ['id'],
  whole: ofRefusedOrder,
  isOnboarding: true,
  rule: orderRule,
  prepare: ordersFrom,
  write: mergeImportedOrders,
  examples: [
    { status: 'shipped', paymentVoucher: '' },
    {
      sequence: '2',
      sku: 'MH01-S-Black',
      skuId: '12002',
      sizeCode: 'S',
      value: '',
      discountType: '',
      discountReason: '',
      discountAmount: '',
      discountPercentage: '',
    },
  ],
} as const satisfies ImportType

/** And its gift vouchers. */
export const vouchers = {
  description: 'One gift voucher of an earlier system.',
  remarks:
    'With nothing left it is redeemed, and past its last day it expires, whatever the `status`; without one it is active. A later file moves the voucher on by further entries of its ledger, as long as nothing has happened to it here: one that was held, drawn, suspended or has expired here since is rejected, and so is a number that was issued here. What it was issued for does not change. A rejected line goes into the rejected file without its PIN.',
  shape: VoucherRow,
  key: ['number'],
  inPaths: ['number'],
  isOnboarding: true,
  rule: voucherRule,
  prepare: vouchersFrom,
  write: importVouchers,
  examples: [{}, { number: '2062390', pin: '004200' }],
} as const satisfies ImportType
