/** Generates customers with the IDs c0, c1 …; a long street makes their records long. */
export const generateCustomers = (count: number, street?: string) =>
  Array.from({ length: count }, (_, i) => ({
    id: `c${i}`,
    firstname: 'A',
    surname: 'B',
    email: `c${i}@example.com`,
    address: street === undefined ? undefined : { addressLine1: street, addressLine2: street, city: street },
  }))
