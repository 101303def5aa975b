import { OrderRow } from '../../domain/orders/order-row.ts'
import { VoucherRow } from '../../domain/vouchers/voucher-row.ts'
import { findOrderNumbers, mergeImportedOrders } from '../../store/orders/imported-orders.ts'
import { importVouchers } from '../../store/vouchers/imported-vouchers.ts'
import type { ImportType } from './import-type.ts'
import { rejectedWithOrder } from './orders.ts'
import { prepareOrders, prepareVouchers } from './prepare.ts'
import { checkOrder, checkVoucher } from './rules.ts'

/** Open orders of an earlier system. */
export const orders = {
  description:
    'One line or one payment of an order of an earlier system, or both. Fields of the order are in its first row, or repeated.',
  remarks:
    'The rows of an order must follow each other. They are imported together or not at all: lines and freight must equal `total`, and so must the payments, if there are any. The first row needs `customerId`, `placedAt` and `total`. A line needs `sku` or `skuId`, `quantity` and `price`. The default `status` of a line is `shipped`. A different version of an order replaces the earlier one, unless the order has been shipped, cancelled or returned in Tillbridge: then it is rejected. So is the number of an order that was placed in Tillbridge.',
  shape: OrderRow,
  key: [],
  documentedKey: ['orderNumber', 'sequence'],
  together: 'orderNumber',
  pathColumns: ['id'],
  incompleteRecordError: rejectedWithOrder,
  isOnboarding: true,
  rule: checkOrder,
  prepare: prepareOrders,
  write: mergeImportedOrders,
  claims: ({ number, id }) => [`order ${number}`, ...(id ? [`ID ${id}`] : [])],
  findOwners: async (db, service, inputs) => {
    const ids = inputs.flatMap(({ id }) => id ?? [])
    return (await findOrderNumbers(db, service, ids)).map(({ number }) => `order ${number}`)
  },
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

/** Gift vouchers of an earlier system. */
export const vouchers = {
  description: 'One gift voucher of an earlier system.',
  remarks:
    'The default `status` is active. Without a balance the voucher is redeemed, and after its last day it expires. A later file adds ledger entries, unless the voucher has been locked, redeemed, suspended or expired in Tillbridge: then it is rejected. So is a number that Tillbridge issued. A balance above the original amount is a load, with a ledger entry of its own. Otherwise the original amount must stay the same. Rejected lines are written without the PIN.',
  shape: VoucherRow,
  key: ['number'],
  separateColumns: ['originalAmount', 'balance'],
  pathColumns: ['number'],
  isOnboarding: true,
  rule: checkVoucher,
  prepare: prepareVouchers,
  write: importVouchers,
  claims: ({ number }) => [`voucher ${number}`],
  // The number is the key.
  findOwners: async () => [],
  examples: [{}, { number: '2062390', pin: '004200' }],
} as const satisfies ImportType
