/**
 * Our names for the paths, parameters and fields that the specification marks as "not shown". Names that it shows are in
 * the statements.
 */
export const paths = {
  inventory: '/inventory',
  products: '/products',
  customers: '/customers',
  customer: (id: string) => `/customers/${id}`,
  transactionsPath: (id: string) => `/customers/${id}/transactions`,
  rewardsPath: (id: string) => `/customers/${id}/rewards`,
  orders: '/orders',
  returnsPath: (order: string) => `/orders/${order}/returns`,
  returnReasons: '/return-reasons',
  vouchers: '/vouchers',
  voucher: (number: string) => `/vouchers/${number}`,
  lockPath: (number: string) => `/vouchers/${number}/lock`,
  gateways: '/payment-gateways',
  changelog: '/changelog',
}

/** Pagination: the parameter, and the field of the previous response that has its value. */
export const cursor = { parameter: 'after_cursor', limit: 'limit' }

export const fields = {
  location: 'ecommerceLocationId',
  buffer: 'buffer',
  ecommerceSku: 'ecommerceSku',
  signUpStore: 'joinedStoreCode',
  loyalty: ['loyaltyCode', 'loyaltyName'],
}

/** The PIN travels in a header. */
export const pinHeader = 'x-voucher-pin'

export const addressLines = {
  addressLine1: '111 Collins St',
  city: 'Melbourne',
  state: 'VIC',
  postcode: '3000',
  country: 'Australia',
}

export const buildVoucher = (overrides: object) => ({
  amount: '25.00',
  receiverName: 'Ann Lee',
  receiverEmail: 'ann.lee@example.com',
  senderName: 'Bo Lee',
  subject: 'For you',
  billingAddress: addressLines,
  ...overrides,
})

export const buildOrder = (customerId: string, sku: string, price: string, gateway: string) => ({
  customerId,
  billingAddress: addressLines,
  deliveryAddress: addressLines,
  lines: [{ sku, quantity: 1 }],
  payments: [{ gateway, amount: price }],
})

export const buildReturn = (sku: string, reasonCode: string) => ({ lines: [{ sku, quantity: 1, reasonCode }] })
