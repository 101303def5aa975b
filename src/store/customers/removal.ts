import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { Contradiction } from '../../domain/values/contradiction.ts'
import { beginChange } from '../lists/change-timestamp.ts'
import { removeRecords } from '../lists/tombstones.ts'

const keptColumns = sql`ecommerce_admin_id, ecommerce_legacy_id, email_subscription, sms_subscription, joined_store_id`

/**
 * Removes customers whom the back office no longer has (contributing/decisions/0015). Keeps their purchases, and stores the fields that only
 * Tillbridge has in `former_customer`, in case a customer returns. Returns the number of removed customers.
 */
export async function removeCustomers(tx: Db, service: Service, ids: readonly string[]): Promise<number> {
  const ofCustomers = sql`service_id = ${service.id} and id = any(${ids})`
  // Lock before the change begins: its timestamp must be later than the timestamp of a change in progress.
  await tx.run(sql`select from customer where ${ofCustomers} order by id for update`)
  const change = await beginChange(tx, service, ['customer'])
  await tx.run(sql`
    insert into former_customer (service_id, id, ${keptColumns}) select service_id, id, ${keptColumns} from customer where ${ofCustomers}
    on conflict (service_id, id) do nothing`)
  await tx.run(sql`
    delete from sync_refresh
     where service_id = ${service.id}
       and (sync = 'transactions' and id = any(${ids})
            or sync = 'reward-accounts' and id in (select id from reward_account where service_id = ${service.id} and customer_id = any(${ids})))`)
  return removeRecords(tx, service, change, { list: 'customer', id: sql`id`, where: sql`id = any(${ids})` })
}

interface KeptFields {
  id: string
  ecommerceAdminId: string | null
  ecommerceLegacyId: string | null
  emailSubscription: boolean
  smsSubscription: boolean
  joinedStoreId: string | null
}

/** Adds the fields in `former_customer` to rows of customers who return, unless the row sets them. */
export async function restoreKeptFields<R extends { id: string }>(tx: Db, service: Service, rows: readonly R[]) {
  const returning = await tx.rows<KeptFields>(sql`
    delete from former_customer where service_id = ${service.id} and id = any(${rows.map(row => row.id)})
    returning id, ecommerce_admin_id as "ecommerceAdminId", ecommerce_legacy_id as "ecommerceLegacyId",
              email_subscription as "emailSubscription", sms_subscription as "smsSubscription", joined_store_id as "joinedStoreId"`)
  if (!returning.length) return rows
  const keptById = new Map(returning.map(row => [row.id, row]))
  return rows.map((row): R => Object.assign({}, keptById.get(row.id), withoutUndefined(row)))
}

/** A field that is undefined counts as missing. */
const withoutUndefined = <R extends object>(row: R) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as R

/** Returns the customers with these IDs and locks them against deletion. Omits unknown IDs. */
export const lockCustomerKeys = (tx: Db, service: Service, ids: readonly string[]) =>
  tx.rows<{ id: string }>(
    sql`select id from customer where service_id = ${service.id} and id = any(${ids}) order by id for key share`,
  )

/** Locks these customers against deletion. Throws `Contradiction` with this constraint if one does not exist. */
export async function requireCustomers(tx: Db, service: Service, ids: readonly string[], constraint: string) {
  const uniqueIds = [...new Set(ids)]
  if ((await lockCustomerKeys(tx, service, uniqueIds)).length < uniqueIds.length) throw new Contradiction(constraint)
}
