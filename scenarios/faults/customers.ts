import type { Asked } from '../support/asking.ts'

/** Customers that are made up, from `c0` on; with a street that is long their records are. */
export const madeUp = (count: number, street?: string) =>
  Array.from({ length: count }, (_, i) => ({
    id: `c${i}`,
    firstname: 'A',
    surname: 'B',
    email: `c${i}@example.com`,
    address: street === undefined ? undefined : { addressLine1: street, addressLine2: street, city: street },
  }))

/** What creates the customer with this address once, however often it is asked. */
export const creating = (email: string): Asked => ({
  method: 'POST',
  path: '/customers',
  key: email,
  body: { firstname: 'A', surname: 'B', contact: { email } },
})
