import { sql } from '../../database/db.ts'

/** The address (`Address`) of a row `c`, as JSON. */
export const address = sql`
  (select row_to_json(a) from (select c.address_line1 as "addressLine1", c.address_line2 as "addressLine2", c.city, c.state, c.postcode, c.country) a)`

export const addressColumns = ['address_line1', 'address_line2', 'city', 'state', 'postcode', 'country'] as const
