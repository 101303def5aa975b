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

/** The kind of record at the first part of a path of the API. @type {Record<string, string>} */
const kinds = {
  customers: 'customer',
  orders: 'order',
  returns: 'return',
  transactions: 'sale',
  products: 'product',
  stores: 'store',
  vouchers: 'voucher',
}

/** Returns the route of the record at a path of the API, such as `/customers/65432`, if it has a page. @param {string} path @returns {string[] | undefined} */
export function findRecordRoute(path) {
  const [, name = '', id = ''] = /^\/([a-z]+)\/([^/]+)$/.exec(path) ?? []
  const kind = Object.hasOwn(kinds, name) && kinds[name]
  return kind ? ['search', kind, decodeURIComponent(id)] : undefined
}
