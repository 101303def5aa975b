import { type Database, type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { address, addressColumns } from '../lists/address.ts'
import {
  beginSourceDatedChange,
  changeTimestamp,
  mergedRowTimes,
  type SourceDated,
  withChangeTimestamp,
} from '../lists/back-date.ts'
import {
  type Change,
  hasSameBody,
  lockRows,
  nextChangeTimestamp,
  type Upserted,
  withComputedTimestamp,
  withoutClosingBrace,
  withTimestamp,
} from '../lists/change-timestamp.ts'
import { columnLists, isDifferent, type MergeTable, mergeRows, newRow, onConflictUpdate } from '../lists/merge.ts'
import { byChangeTimestamp, changedAfter, filter, type PageRequest, readPage } from '../lists/page.ts'
import { materialized, opaqueServiceId } from '../lists/planner-fences.ts'
import { lockReferences, selectReferences } from '../lists/references.ts'
import { lockStores } from '../lists/store-locks.ts'
import { requireCustomers, withWhatWasKept } from './removal.ts'

const customers: MergeTable = {
  name: 'customer',
  key: ['id'],
  columns: [
    ...['service_id', 'id', 'code', 'title', 'firstname', 'surname', 'date_of_birth', 'start_date'],
    ...['email', 'phone_home', 'phone_mobile', 'phone_work'],
    ...addressColumns,
    ...['privacy', 'email_subscription', 'sms_subscription', 'reference_values'],
    ...['loyalty_code', 'loyalty_name', 'joined_store_id', 'ecommerce_admin_id', 'ecommerce_legacy_id'],
  ],
  // No marketing without consent.
  fresh: { privacy: true, email_subscription: false, sms_subscription: false, reference_values: {} },
  // A subscription is consent, so it outranks privacy.
  derived: { privacy: 'case when email_subscription or sms_subscription then false else privacy end' },
}
const content = columnLists(customers)

/** The record of a row `c` of `customer`, open for its stamp, its e-commerce identifiers apart. */
const body = withoutClosingBrace(sql`
  select row_to_json(r) from (select
     c.id, c.code, c.title, c.firstname, c.surname, c.date_of_birth as "dateOfBirth",
     to_char(c.start_date, 'YYYY-MM-DD HH24:MI:SS') as "startDate", c.privacy,
     c.email_subscription as "emailSubscription", c.sms_subscription as "smsSubscription",
     (select row_to_json(k) from (select c.email, (select row_to_json(p) from (select c.phone_home as home, c.phone_mobile as mobile, c.phone_work as work) p) as phones) k) as contact,
     ${address} as address,
     ${selectReferences('c')} as references,
     c.loyalty_code as "loyaltyCode", c.loyalty_name as "loyaltyName", c.joined_store_id as "joinedStoreId",
     (select code from store where service_id = c.service_id and store_id = c.joined_store_id) as "joinedStoreCode") r`)

/** What follows the record where the e-commerce identifiers are shown. */
const ecommerceIds = sql`
  format(',"ecommerceAdminId":%s,"ecommerceLegacyId":%s}', coalesce(to_json(c.ecommerce_admin_id)::text, 'null'), coalesce(to_json(c.ecommerce_legacy_id)::text, 'null'))`

/** The whole record of a row of `customer`. */
export const customerJson = sql`record || ecommerce_ids`
const withoutEcommerceIds = sql`record || '}'`

/** When rows were asked for, and what becomes of those that may be older than what is there. */
export interface StaleRowGuard {
  requestedAt: string
  onNewer(id: string): void
}

/** Merges rows (`CustomerRow`) into the customers. */
export const upsertCustomers = (db: Database, service: Service, rows: readonly object[]): Promise<Upserted> =>
  db.transaction(async tx => {
    await holdShown(tx, service, rows)
    return mergeCustomers(tx, service, rows)
  })

/**
 * The same of rows that a back office was asked for after a moment (`momentNow`). Customers who have changed since, or have left, stay as
 * they are, since the rows may be older: `onNewer` hears of each, where the transaction is begun anew more than once.
 */
export const upsertCustomersUnlessNewer = (
  db: Database,
  service: Service,
  rows: readonly { id: string }[],
  { requestedAt, onNewer }: StaleRowGuard,
): Promise<Upserted> =>
  db.transaction(async tx => {
    await holdShown(tx, service, rows)
    return mergeCustomers(tx, service, rows, async given => {
      const ids = given.map(({ id }) => id)
      await lockCustomers(tx, service, sql`and c.id = any(${ids})`)
      const found = await tx.rows<{ id: string }>(sql`
        select id from customer where service_id = ${opaqueServiceId(service)} and id = any(${ids}) and changed_at > ${requestedAt}::timestamptz
        union
        select id from tombstone where service_id = ${service.id} and kind = 'customer' and id = any(${ids}) and changed_at > ${requestedAt}::timestamptz`)
      const newer = new Set(found.map(({ id }) => id))
      for (const id of newer) onNewer(id)
      return given.filter(({ id }) => !newer.has(id))
    })
  })

/** Holds what rows will show: a value or a store that is renamed meanwhile would be shown as it was. */
async function holdShown(tx: Db, service: Service, rows: readonly object[]) {
  await lockReferences(tx, service, rows)
  const stores = (rows as readonly { joinedStoreId?: string | null }[]).flatMap(row => row.joinedStoreId ?? [])
  if (stores.length) await lockStores(tx, service, stores)
}

/** Merges rows (`CustomerMappingRow`) into customers that are there. */
export const mapCustomers = (db: Database, service: Service, rows: readonly { id: string }[]): Promise<Upserted> =>
  db.transaction(async tx => {
    const ids = rows.map(({ id }) => id)
    await requireCustomers(tx, service, ids, 'mapped_customer')
    return mergeCustomers(tx, service, rows)
  })

type Given = SourceDated & { id: string }

/** The same within a transaction, of the rows that `among` leaves of them. */
export async function mergeCustomers(
  tx: Db,
  service: Service,
  given: readonly object[],
  among = async (rows: readonly Given[]) => rows,
): Promise<Upserted> {
  const identified = given.length ? await among(given as readonly Given[]) : []
  if (!identified.length) return { inserted: 0, changed: 0 }
  const ids = identified.map(({ id }) => id)
  const [held, change, rows] = await Promise.all([
    tx.rows<{ id: string }>(locking(service, sql`and c.id = any(${ids})`)),
    beginSourceDatedChange(tx, service, 'customer', identified),
    withWhatWasKept(tx, service, identified),
  ])
  const isHeld = new Set(held.map(({ id }) => id))
  const put = async (some: readonly Given[], otherwise: Sql) =>
    some.length ? tx.rows<{ id: string }>(insertion(service, change, some, otherwise)) : []
  const [there, added] = [rows.filter(({ id }) => isHeld.has(id)), rows.filter(({ id }) => !isHeld.has(id))]
  const [changed, fresh] = await Promise.all([
    put(there, onConflictUpdate(customers, ['changed_at', 'record', 'ecommerce_ids'])),
    put(added, sql`on conflict (service_id, id) do nothing`),
  ])
  const isFresh = new Set(fresh.map(({ id }) => id))
  // Whom another transaction has put in meanwhile nobody could see, nor hold: their rows are merged into what is there by now.
  const late = await mergeCustomers(
    tx,
    service,
    added.filter(({ id }) => !isFresh.has(id)),
    among,
  )
  return { inserted: fresh.length + late.inserted, changed: changed.length + late.changed }
}

/** Merged rows as an insertion; `otherwise` is what becomes of those that are there. */
const insertion = (service: Service, change: Change, rows: readonly object[], otherwise: Sql) => sql`
  insert into customer (${content.list}, changed_at, record, ecommerce_ids)
  select ${content.of('c')}, at.stamp, ${withChangeTimestamp(body, sql`at.stamp`, service, change, '')}, ${ecommerceIds}
    from ${mergeRows(service, customers, rows, 'c')}
    cross join lateral (select ${changeTimestamp(mergedRowTimes, service, change)} as stamp) at
   where ${isDifferent(customers, 'c')}
  ${otherwise}
  returning id`

/** Adds a customer whose identifier nobody has; undefined where another one has the e-mail address. */
export const addCustomer = (tx: Db, service: Service, row: object) =>
  tx.row<{ record: string }>(sql`
    insert into customer (${content.list}, changed_at, record, ecommerce_ids)
    select ${content.of('c')}, at, ${withComputedTimestamp(body, sql`at`, service, '')}, ${ecommerceIds}
      from ${nextChangeTimestamp(service, ['customer'])} at, ${newRow(service, customers, row, 'c')}
    on conflict do nothing
    returning ${customerJson} as record`)

/** Locks customers before they are read and written anew: what another transaction changes meanwhile would be lost. */
const lockCustomers = (tx: Db, service: Service, where: Sql) => lockRows(tx, locking(service, where))

const locking = (service: Service, where: Sql) =>
  sql`select c.id from customer c where c.service_id = ${opaqueServiceId(service)} ${where} order by c.id for no key update`

/** Renders customers anew after something that they show has changed; `where` begins with `and`. */
export async function renderCustomers(tx: Db, service: Service, change: Change, where: Sql) {
  await lockCustomers(tx, service, where)
  await tx.run(sql`
    update customer set record = ${withTimestamp(sql`r.body`, change, '')}, changed_at = ${change.at}
      from ${materialized(sql`select c.id, ${body} as body from customer c where c.service_id = ${opaqueServiceId(service)} ${where}`)} r
     where customer.service_id = ${service.id} and customer.id = r.id
       and not ${hasSameBody(sql`customer.record`, sql`r.body`, '')}`)
}

/** An e-mail address in the form in which two are compared; as the index `customer_email` has it. */
const comparable = (email: Sql) => sql`lower(normalize(${email}, NFC))`

/** A customer's name as a directory has it; as the index `customer_name` has it. */
const nameKey = sql`(customer_name_key(surname, firstname) collate "C")`

/** Names that begin with a text: surname, or surname and first name, a comma between them or not. */
const named = (text: string) => {
  const key = sql`(select customer_name_key(${text.replaceAll(/[\s,]+/g, ' ')}, null))`
  // Behind the highest character nothing goes on.
  return sql`and ${nameKey} >= ${key} and ${nameKey} < ${key} || chr(1114111)`
}

interface Filters {
  email?: string | undefined
  name?: string | undefined
  updatedAfter?: string | undefined
  /** Whether the records show the e-commerce identifiers. */
  ecommerceIds: boolean
}

export const customerPage = (
  db: Db,
  service: Service,
  { email, name, updatedAfter, ecommerceIds }: Filters,
  asked: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: 'customer',
      record: ecommerceIds ? customerJson : withoutEcommerceIds,
      ...orderOf({ email, name }),
      key: sql`id`,
      where: sql`
        ${filter(email, text => sql`and ${comparable(sql`email`)} = ${comparable(sql`${text}`)}`)}
        ${filter(name, named)}
        ${filter(updatedAfter, changedAfter)}`,
    },
    asked,
  )

/** Who is looked up, by an address or a name, is so as of now; all others are followed. */
const orderOf = ({ email, name }: Pick<Filters, 'email' | 'name'>) => {
  if (name !== undefined) return { live: true, order: { column: nameKey, type: 'text' } } as const
  return email === undefined ? { order: byChangeTimestamp } : { live: true }
}

/** The record of one customer, as JSON text. */
export const customerRecord = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(
    sql`select ${customerJson} as record from customer where service_id = ${service.id} and id = ${id}`,
  )

/** The customer with an e-mail address. */
export const customerWithEmail = (db: Db, service: Service, email: string) =>
  db.row<{ id: string }>(sql`
    select id from customer where service_id = ${service.id} and ${comparable(sql`email`)} = ${comparable(sql`${email}`)}`)

/** Which of these identifiers some customer has. */
export const knownCustomers = (db: Db, service: Service, ids: readonly string[]) =>
  db.rows<{ id: string }>(
    sql`select id from customer where service_id = ${opaqueServiceId(service)} and id = any(${ids})`,
  )
