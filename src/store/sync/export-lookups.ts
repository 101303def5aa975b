import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** What is known of a SKU that was sold. */
interface SoldSku {
  skuId: string
  productCode: string
  productName: string
  colourCode: string | null
  colourName: string | null
  sizeCode: string
}

/** SKUs by the back office's identifiers. */
export const soldSkus = (db: Db, service: Service, ids: readonly string[]) =>
  db.rows<SoldSku>(sql`
    select v.sku_id as "skuId", p.product_code as "productCode", p.name as "productName", c.code as "colourCode", c.name as "colourName",
           v.size_code as "sizeCode"
      from variant v
      join product p on p.service_id = v.service_id and p.product_id = v.product_id
      join colour c on c.service_id = v.service_id and c.product_id = v.product_id and c.colour_id = v.colour_id
     where v.service_id = ${service.id} and v.sku_id = any(${ids})`)

/** The numbers of all stores, by their identifiers and by their codes. */
export async function storeNumbers(
  db: Db,
  service: Service,
): Promise<{ byId: Map<string, string>; byCode: Map<string, string> }> {
  const rows = await db.rows<{ id: string; number: string; code: string | null }>(
    sql`select store_id as id, store_number as number, code from store where service_id = ${service.id}`,
  )
  return {
    byId: new Map(rows.map(({ id, number }) => [id, number])),
    byCode: new Map(rows.flatMap(({ code, number }) => (code === null ? [] : [[code, number] as const]))),
  }
}

/** Which of these transactions have lines that did not come from an export, whose lines begin with `prefix`. */
export const toldOtherwise = async (
  db: Db,
  service: Service,
  ids: readonly string[],
  prefix: string,
): Promise<Set<string>> => {
  const rows = await db.rows<{ id: string }>(sql`
    select id from retail_transaction
     where service_id = ${service.id} and id = any(${ids})
       and exists (select from json_array_elements(record::json->'lines') line where not starts_with(line->>'id', ${prefix}))`)
  return new Set(rows.map(({ id }) => id))
}

/** Which of these are members of the staff. */
export const knownStaff = async (db: Db, service: Service, ids: readonly string[]): Promise<Set<string>> => {
  const rows = await db.rows<{ id: string }>(
    sql`select id from staff where service_id = ${service.id} and id = any(${ids})`,
  )
  return new Set(rows.map(({ id }) => id))
}
