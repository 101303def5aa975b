/** A delivery and billing address. */
export const address = {
  addressLine1: '111 Collins St',
  city: 'Melbourne',
  state: 'VIC',
  postcode: '3000',
  country: 'Australia',
}

/** Formats cents as an amount of the API. */
export const formatAmount = (cents: number) => (cents / 100).toFixed(2)
