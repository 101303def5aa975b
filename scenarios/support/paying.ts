/** Where a shopper has goods sent, and invoices. */
export const address = {
  addressLine1: '111 Collins St',
  city: 'Melbourne',
  state: 'VIC',
  postcode: '3000',
  country: 'Australia',
}

/** An amount of cents as the API takes it. */
export const money = (cents: number) => (cents / 100).toFixed(2)
