import { type Db, sql } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { sides } from './sides.ts'

const maxItems = 8

/**
 * Finds platform items for a type-ahead: those whose identifier begins with a text, then those whose name or other value contains it.
 * `isMapped`: true if a record is mapped to the item.
 */
export const findPlatformItems = (db: Db, service: Service, kind: MappedKind, text: string) => {
  const isOfKind = sql`e.service_id = ${service.id} and e.kind = ${kind}`
  // An index range of the prefix: 1114111 is the highest code point.
  const begins = sql`e.near_id >= near_form(${text}) and e.near_id < near_form(${text}) || chr(1114111)`
  const contains = sql`position(lower(${text}) in lower(concat_ws(' ', e.name, e.other))) > 0`
  return db.rows<{ id: string; name: string | null; other: string | null; isMapped: boolean }>(sql`
    select e.ecommerce_id as id, e.name, e.other, ${sides[kind].isClaimed} as "isMapped"
      from ((select * from ecommerce_item e where ${isOfKind} and ${begins} order by near_id, item_key limit ${maxItems})
            union all
            (select * from ecommerce_item e where ${isOfKind} and not (${begins}) and ${contains} limit ${maxItems})) e
     limit ${maxItems}`)
}
