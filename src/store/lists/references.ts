import { raw, sql } from '../../db.ts'

/** The references of a row of `customer` or `product`, as its record shows them; most have none, and need not be asked for. */
export const references = (alias: 'c' | 'p') => sql`
  case when ${raw(alias)}.reference_values = '{}' then json '{}' else rendered_references(${raw(alias)}.service_id, ${raw(alias)}.reference_values) end`
