/** The list of each kind of record, whose page has the path `search/order/4711`. @type {Record<string, string>} */
export const recordLists = {
  customer: 'customers',
  order: 'orders',
  return: 'returns',
  sale: 'sales',
  product: 'products',
  store: 'stores',
  voucher: 'vouchers',
}
