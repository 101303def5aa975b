import { type Db, raw, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockRows } from './change-timestamp.ts'

/** The references of a row of `customer` or `product`, as its record shows them; most have none, and need not be asked for. */
export const selectReferences = (alias: 'c' | 'p') => sql`
  case when ${raw(alias)}.reference_values = '{}' then json '{}' else render_references(${raw(alias)}.service_id, ${raw(alias)}.reference_values) end`

/** A value by its type and its identifier. */
type ReferenceKey = readonly [type: string, value: string]

/**
 * Values that are about to be shown, until the transaction ends, and before what shows them: one that is renamed meanwhile would be
 * shown as it was. In the order in which all hold them.
 */
export const lockReferencesSql = (
  service: Service,
  keys: readonly ReferenceKey[],
  strength: 'share' | 'no key update' = 'share',
) => sql`
  select type, reference_value_id as value, code, name
    from reference
   where service_id = ${service.id}
     and (type, reference_value_id) in (select v->>0, v->>1 from json_array_elements(${JSON.stringify(keys)}) v)
   order by type, reference_value_id
     for ${raw(strength)}`

/** Holds the values that rows of customers or products name. */
export async function lockReferences(tx: Db, service: Service, rows: readonly object[]) {
  const named = (rows as readonly { referenceValues?: Record<string, string> | null }[]).flatMap(row =>
    Object.entries(row.referenceValues ?? {}),
  )
  const keys = new Map(named.map(key => [JSON.stringify(key), key]))
  if (keys.size) await lockRows(tx, lockReferencesSql(service, [...keys.values()]))
}
