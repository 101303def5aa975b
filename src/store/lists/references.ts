import { type Db, raw, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockRows } from './change-timestamp.ts'

/** JSON of the references of a `customer` or `product` row. Most rows have none, and need no function call. */
export const selectReferences = (alias: 'c' | 'p') => sql`
  case when ${raw(alias)}.reference_values = '{}' then json '{}' else render_references(${raw(alias)}.service_id, ${raw(alias)}.reference_values) end`

type ReferenceKey = readonly [type: string, value: string]

/**
 * Selects and locks reference values, in the order of their key. A record that shows a value must be rendered under this lock: otherwise a
 * concurrent rename would be lost. Lock the values before the records.
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

/** Locks the reference values of customer or product rows. */
export async function lockReferences(tx: Db, service: Service, rows: readonly object[]) {
  const references = (rows as readonly { referenceValues?: Record<string, string> | null }[]).flatMap(row =>
    Object.entries(row.referenceValues ?? {}),
  )
  const keys = new Map(references.map(key => [JSON.stringify(key), key]))
  if (keys.size) await lockRows(tx, lockReferencesSql(service, [...keys.values()]))
}
