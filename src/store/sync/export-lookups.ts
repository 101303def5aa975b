import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

interface SoldSku {
  skuId: string
  productCode: string
  productName: string
  colourCode: string | null
  colourName: string | null
  sizeCode: string
}

/** Loads SKUs by the back office's IDs. */
export const loadSoldSkus = (db: Db, service: Service, ids: readonly string[]) =>
  db.rows<SoldSku>(sql`
    select v.sku_id as "skuId", p.product_code as "productCode", p.name as "productName", c.code as "colourCode", c.name as "colourName",
           v.size_code as "sizeCode"
      from variant v
      join product p on p.service_id = v.service_id and p.product_id = v.product_id
      join colour c on c.service_id = v.service_id and c.product_id = v.product_id and c.colour_id = v.colour_id
     where v.service_id = ${service.id} and v.sku_id = any(${ids})`)

/** Loads the numbers of all stores, by ID and by code. */
export async function loadStoreNumbers(
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

/** Returns the transactions that have lines from other sources. The line IDs of exports begin with `prefix`. */
export const findTransactionsOfOtherSources = async (
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

/** Returns the IDs that belong to staff members. */
export const findStaffIds = async (db: Db, service: Service, ids: readonly string[]): Promise<Set<string>> => {
  const rows = await db.rows<{ id: string }>(
    sql`select id from staff where service_id = ${service.id} and id = any(${ids})`,
  )
  return new Set(rows.map(({ id }) => id))
}
