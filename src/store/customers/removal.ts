import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { Contradiction } from '../../domain/values/contradiction.ts'
import { beginChange } from '../lists/change-timestamp.ts'
import { removeRecords } from '../lists/tombstones.ts'

const kept = sql`ecommerce_admin_id, ecommerce_legacy_id, email_subscription, sms_subscription, joined_store_id`

/**
 * Takes customers out of the list whom the back office has no more (contributing/decisions/0015): what they bought stays, and what only we
 * know of them waits for their return. Returns how many there were.
 */
export async function leave(tx: Db, service: Service, ids: readonly string[]): Promise<number> {
  const mine = sql`service_id = ${service.id} and id = any(${ids})`
  // Before the change begins: its stamp has to be later than that of a change which is under way.
  await tx.run(sql`select from customer where ${mine} order by id for update`)
  const change = await beginChange(tx, service, ['customer'])
  await tx.run(sql`
    insert into former_customer (service_id, id, ${kept}) select service_id, id, ${kept} from customer where ${mine}
    on conflict (service_id, id) do nothing`)
  await tx.run(sql`
    delete from sync_refresh
     where service_id = ${service.id}
       and (sync = 'transactions' and id = any(${ids})
            or sync = 'reward-accounts' and id in (select id from reward_account where service_id = ${service.id} and customer_id = any(${ids})))`)
  return removeRecords(tx, service, change, { list: 'customer', id: sql`id`, where: sql`id = any(${ids})` })
}

interface Kept {
  id: string
  ecommerceAdminId: string | null
  ecommerceLegacyId: string | null
  emailSubscription: boolean
  smsSubscription: boolean
  joinedStoreId: string | null
}

/** Rows of customers; those of some who come back carry what was kept of them, where they do not say otherwise. */
export async function withWhatWasKept<R extends { id: string }>(tx: Db, service: Service, rows: readonly R[]) {
  const back = await tx.rows<Kept>(sql`
    delete from former_customer where service_id = ${service.id} and id = any(${rows.map(row => row.id)})
    returning id, ecommerce_admin_id as "ecommerceAdminId", ecommerce_legacy_id as "ecommerceLegacyId",
              email_subscription as "emailSubscription", sms_subscription as "smsSubscription", joined_store_id as "joinedStoreId"`)
  if (!back.length) return rows
  const keptOf = new Map(back.map(row => [row.id, row]))
  return rows.map((row): R => Object.assign({}, keptOf.get(row.id), said(row)))
}

/** A field that is undefined says as little as one that is missing. */
const said = <R extends object>(row: R) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as R

/** Which of these are customers; they stay so until the transaction ends. */
export const holdCustomers = (tx: Db, service: Service, ids: readonly string[]) =>
  tx.rows<{ id: string }>(
    sql`select id from customer where service_id = ${service.id} and id = any(${ids}) order by id for key share`,
  )

/** Throws `Contradiction` of that name where one of these is no customer, and holds them. */
export async function requireCustomers(tx: Db, service: Service, ids: readonly string[], constraint: string) {
  const wanted = [...new Set(ids)]
  if ((await holdCustomers(tx, service, wanted)).length < wanted.length) throw new Contradiction(constraint)
}
