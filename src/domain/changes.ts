/** Characters of a place in all kinds at once, whose identifiers may be long; a URL holds it. */
export const longestPlace = 6_000

/** The kinds of records whose changes are told (contract 10). Vouchers are not among them: their numbers are half of a secret. */
export const kinds = [
  'store',
  'staff',
  'product',
  'inventory',
  'customer',
  'transaction',
  'order',
  'return',
  'reward-account',
] as const
export type Kind = (typeof kinds)[number]

/** Where records of each kind are read, by what a path names them by. */
export const pathsOf = {
  store: '/stores',
  staff: '/staff',
  product: '/products',
  inventory: '/inventory',
  customer: '/customers',
  transaction: '/transactions',
  order: '/orders',
  return: '/returns',
  'reward-account': '/rewards/accounts',
} as const satisfies Record<Kind, string>
