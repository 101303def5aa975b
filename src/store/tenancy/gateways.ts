import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { countUpserted, type Upserted } from '../lists/change-timestamp.ts'

/** Adds rows (`PaymentGatewayRow`) to the gateways. */
export async function upsertGateways(
  db: Database,
  service: Service,
  rows: readonly { name: string }[],
): Promise<Upserted> {
  return countUpserted(
    await db.rows<{ inserted: boolean }>(sql`
      insert into payment_gateway (service_id, name)
      select ${service.id}, name from unnest(${rows.map(row => row.name)}::text[]) name
      on conflict do nothing
      returning true as inserted`),
  )
}

/** Returns the names of a service's payment gateways, sorted. */
export const listGatewayNames = async (db: Db, service: Service) =>
  (
    await db.rows<{ name: string }>(
      sql`select name from payment_gateway where service_id = ${service.id} order by name`,
    )
  ).map(row => row.name)

/** Makes these the gateways of a service, and no others. */
export async function setGateways(tx: Db, service: Service, names: readonly string[]) {
  await tx.run(sql`delete from payment_gateway where service_id = ${service.id} and name <> all(${names}::text[])`)
  await tx.run(sql`
    insert into payment_gateway (service_id, name)
    select ${service.id}, name from unnest(${names}::text[]) name
    on conflict do nothing`)
}
