import { type Database, type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Consent } from '../../domain/customers/consent.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { address, addressColumns } from '../lists/address.ts'
import { beginSourceDatedChange, changeTimestamp, mergedRowTimes, withChangeTimestamp } from '../lists/back-date.ts'
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
import { buildColumnLists, isDifferent, type MergeTable, mergeRows, newRow, onConflictUpdate } from '../lists/merge.ts'
import { contentTime, mergedContentTime, type WriteContext } from '../lists/outdated.ts'
import { byChangeTimestamp, filter, type PageRequest, readPage } from '../lists/page.ts'
import { materialized, opaqueServiceId } from '../lists/planner-fences.ts'
import { lockReferences, selectReferences } from '../lists/references.ts'
import { lockStores } from '../lists/store-locks.ts'
import { recordConsentChanges } from './consent.ts'
import { type CustomerRow, dropOlderFields, keepWithdrawals } from './outdated.ts'
import { requireCustomers, restoreKeptFields } from './removal.ts'

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
  defaults: { privacy: true, email_subscription: false, sms_subscription: false, reference_values: {} },
  // A subscription is consent, so it outranks privacy.
  derived: { privacy: 'case when email_subscription or sms_subscription then false else privacy end' },
}
const content = buildColumnLists(customers)

/** JSON of a row `c` of `customer` without e-commerce IDs and closing brace. */
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

/** The end of a record with e-commerce IDs. */
const ecommerceIds = sql`
  format(',"ecommerceAdminId":%s,"ecommerceLegacyId":%s}', coalesce(to_json(c.ecommerce_admin_id)::text, 'null'), coalesce(to_json(c.ecommerce_legacy_id)::text, 'null'))`

/** The complete record of a row of `customer`. */
export const customerJson = sql`record || ecommerce_ids`
const withoutEcommerceIds = sql`record || '}'`

/** Protects records that changed after rows were requested. `requestedAt`: text of a `timestamptz`, from the clock of the database. */
export interface StaleRowGuard {
  requestedAt: string
  onNewer(id: string): void
}

/** Merges rows (`CustomerRow`) into the customers. If a row is older than the stored customer, only its newer consent is merged. */
export const upsertCustomers = (
  db: Database,
  service: Service,
  rows: readonly object[],
  context?: WriteContext,
): Promise<Upserted> =>
  db.transaction(async tx => {
    await lockShownRows(tx, service, rows)
    let outdated = 0
    const selectRows = async (rowsToMerge: readonly CustomerRow[]) => {
      const ids = rowsToMerge.flatMap(({ id, updateTimeStamp }) => (updateTimeStamp ? id : []))
      if (!ids.length) return rowsToMerge
      await lockCustomers(tx, service, sql`and c.id = any(${ids})`)
      const current = await dropOlderFields(tx, service, rowsToMerge)
      outdated += rowsToMerge.length - current.length
      return current
    }
    const counts = await mergeCustomers(tx, service, rows, context, context?.skipOutdated ? selectRows : undefined)
    return { ...counts, outdated }
  })

/**
 * Like `upsertCustomers`, for rows that were requested from a back office at a known time. Customers who changed or left the list after
 * that time are skipped, because the rows can be older. Calls `onNewer` for each of them. If the transaction is repeated, `onNewer` is
 * called again. Consent that was withdrawn after the time of a row stays withdrawn.
 */
export const upsertCustomersUnlessNewer = (
  db: Database,
  service: Service,
  rows: readonly { id: string }[],
  { requestedAt, onNewer }: StaleRowGuard,
  context?: WriteContext,
): Promise<Upserted> =>
  db.transaction(async tx => {
    await lockShownRows(tx, service, rows)
    return mergeCustomers(tx, service, rows, context, async rowsToMerge => {
      const ids = rowsToMerge.map(({ id }) => id)
      await lockCustomers(tx, service, sql`and c.id = any(${ids})`)
      const newerRows = await tx.rows<{ id: string }>(sql`
        select id from customer where service_id = ${opaqueServiceId(service)} and id = any(${ids}) and changed_at > ${requestedAt}::timestamptz
        union
        select id from tombstone where service_id = ${service.id} and kind = 'customer' and id = any(${ids}) and changed_at > ${requestedAt}::timestamptz`)
      const newer = new Set(newerRows.map(({ id }) => id))
      for (const id of newer) onNewer(id)
      return keepWithdrawals(
        tx,
        service,
        rowsToMerge.filter(({ id }) => !newer.has(id)),
      )
    })
  })

/** Locks the references and stores that the rows show: otherwise, a concurrent rename would be lost. */
async function lockShownRows(tx: Db, service: Service, rows: readonly object[]) {
  await lockReferences(tx, service, rows)
  const stores = (rows as readonly { joinedStoreId?: string | null }[]).flatMap(row => row.joinedStoreId ?? [])
  if (stores.length) await lockStores(tx, service, stores)
}

/** Merges rows (`CustomerMappingRow`) into existing customers. Throws `Contradiction` if a customer does not exist. */
export const mapCustomers = (db: Database, service: Service, rows: readonly { id: string }[]): Promise<Upserted> =>
  db.transaction(async tx => {
    const ids = rows.map(({ id }) => id)
    await requireCustomers(tx, service, ids, 'mapped_customer')
    return mergeCustomers(tx, service, rows)
  })

/** Merges rows into the customers, within a transaction. `selectRows` selects the rows to merge. */
export async function mergeCustomers(
  tx: Db,
  service: Service,
  rowsToMerge: readonly object[],
  context?: WriteContext,
  selectRows = async (rows: readonly CustomerRow[]) => rows,
): Promise<Upserted> {
  const identified = rowsToMerge.length ? await selectRows(rowsToMerge as readonly CustomerRow[]) : []
  if (!identified.length) return { inserted: 0, changed: 0 }
  const ids = identified.map(({ id }) => id)
  const [lockedRows, change, rows] = await Promise.all([
    tx.rows<Consent & { id: string }>(selectForUpdate(service, sql`and c.id = any(${ids})`)),
    beginSourceDatedChange(tx, service, 'customer', identified),
    restoreKeptFields(tx, service, identified),
  ])
  const lockedIds = new Set(lockedRows.map(({ id }) => id))
  const insert = async (batch: readonly CustomerRow[], onConflict: Sql) =>
    batch.length ? tx.rows<Consent & { id: string }>(insertMerged(service, change, batch, onConflict)) : []
  const [existing, added] = [rows.filter(({ id }) => lockedIds.has(id)), rows.filter(({ id }) => !lockedIds.has(id))]
  if (context?.releasesUniqueValues) await releaseEmails(tx, service, existing)
  const [changed, insertedRows] = await Promise.all([
    insert(existing, onConflictUpdate(customers, ['changed_at', ...contentTimes, 'record', 'ecommerce_ids'])),
    insert(added, sql`on conflict (service_id, id) do nothing`),
  ])
  if (context) await recordConsentChanges(tx, service, context.actor, lockedRows, changed)
  const insertedIds = new Set(insertedRows.map(({ id }) => id))
  // Rows inserted by a concurrent transaction were invisible to our SELECT and could not be locked. Merge them again: they exist now.
  const retried = await mergeCustomers(
    tx,
    service,
    added.filter(({ id }) => !insertedIds.has(id)),
    context,
    selectRows,
  )
  return { inserted: insertedRows.length + retried.inserted, changed: changed.length + retried.changed }
}

/** Clears emails that other rows of the batch take, because the unique index is checked after each row. */
const releaseEmails = (tx: Db, service: Service, rows: readonly (CustomerRow & { email?: string | null })[]) => {
  const changing = rows.filter(({ email }) => email !== undefined)
  const [ids, emails] = [changing.map(({ id }) => id), changing.map(({ email }) => email ?? null)]
  return tx.run(sql`
    update customer c set email = null
      from unnest(${ids}::text[], ${emails}::text[]) as v (id, email)
     where c.service_id = ${service.id} and c.id = v.id
       and lower(normalize(c.email, NFC)) is distinct from lower(normalize(v.email, NFC))
       and lower(normalize(c.email, NFC)) in (select lower(normalize(e, NFC)) from unnest(${emails}::text[]) e)`)
}

/** Returns groups of rows, as indexes in `rows`, in which one row takes the email address that another row's customer has. */
export async function findEmailExchanges(
  db: Db,
  service: Service,
  rows: readonly { id: string; email?: string | null }[],
): Promise<number[][]> {
  const indexes = new Map(rows.map(({ id }, i) => [id, i]))
  const holders = await findCustomersByEmail(db, service, [...new Set(rows.flatMap(({ email }) => email ?? []))])
  const holderByEmail = new Map(holders.map(({ email, id }) => [email, indexes.get(id)]))
  const groups = new Map(rows.map((_, i) => [i, [i]]))
  for (const [i, { email }] of rows.entries()) {
    const holder = holderByEmail.get(email ?? '')
    const [group = [], holderGroup = []] = [groups.get(i), groups.get(holder ?? i)]
    if (group === holderGroup) continue
    for (const index of holderGroup) groups.set(index, group)
    group.push(...holderGroup)
  }
  return [...new Set(groups.values())].filter(({ length }) => length > 1).map(group => group.sort((a, b) => a - b))
}

/** The times of a customer's content and of its consent (`dropOlderFields`). */
const contentTimes = [
  'source_changed_at',
  'privacy_changed_at',
  'email_subscription_changed_at',
  'sms_subscription_changed_at',
]

/** The time of the last change of a flag in a row of `mergeRows`. */
const flagTime = (flag: 'privacy' | 'email_subscription' | 'sms_subscription', service: Service, change: Change) =>
  sql`case when ${raw(`c.${flag} is distinct from old.${flag}`)} then ${contentTime(sql`source.source_changed_at`, service, change)} else ${raw(`old.${flag}_changed_at`)} end`

const consentFlags = sql`privacy, email_subscription as "emailSubscription", sms_subscription as "smsSubscription"`

/** Inserts merged rows. `onConflict`: the `on conflict` clause. */
const insertMerged = (service: Service, change: Change, rows: readonly object[], onConflict: Sql) => sql`
  insert into customer (${content.list}, changed_at, ${raw(contentTimes.join(', '))}, record, ecommerce_ids)
  select ${content.qualify('c')}, at.new_timestamp, ${mergedContentTime(customers, 'c', service, change, ['ecommerce_admin_id', 'ecommerce_legacy_id'])},
         ${flagTime('privacy', service, change)}, ${flagTime('email_subscription', service, change)}, ${flagTime('sms_subscription', service, change)}, ${withChangeTimestamp(body, sql`at.new_timestamp`, service, change, '')}, ${ecommerceIds}
    from ${mergeRows(service, customers, rows, 'c')}
    cross join lateral (select ${changeTimestamp(mergedRowTimes, service, change)} as new_timestamp) at
   where ${isDifferent(customers, 'c')}
  ${onConflict}
  returning id, ${consentFlags}`

const localNow = (service: Service) => sql`date_trunc('second', at at time zone ${service.settings.timeZone})`

/** Inserts a customer with a new ID. Returns undefined if another customer has the email address. */
export const addCustomer = (tx: Db, service: Service, row: object) =>
  tx.row<{ record: string }>(sql`
    insert into customer (${content.list}, changed_at, ${raw(contentTimes.join(', '))}, record, ecommerce_ids)
    select ${content.qualify('c')}, at, ${localNow(service)}, ${localNow(service)}, ${localNow(service)}, ${localNow(service)}, ${withComputedTimestamp(body, sql`at`, service, '')}, ${ecommerceIds}
      from ${nextChangeTimestamp(service, ['customer'])} at, ${newRow(service, customers, row, 'c')}
    on conflict do nothing
    returning ${customerJson} as record`)

/** Locks customers before they are read and rendered: otherwise, a concurrent change would be lost. */
const lockCustomers = (tx: Db, service: Service, where: Sql) => lockRows(tx, selectForUpdate(service, where))

const selectForUpdate = (service: Service, where: Sql) =>
  sql`select c.id, ${consentFlags} from customer c where c.service_id = ${opaqueServiceId(service)} ${where} order by c.id for no key update`

/** Renders customers `c` after a change of something they show. `where` must begin with `and`. */
export async function renderCustomers(tx: Db, service: Service, change: Change, where: Sql) {
  await lockCustomers(tx, service, where)
  await tx.run(sql`
    update customer set record = ${withTimestamp(sql`r.body`, change, '')}, changed_at = ${change.at}
      from ${materialized(sql`select c.id, ${body} as body from customer c where c.service_id = ${opaqueServiceId(service)} ${where}`)} r
     where customer.service_id = ${service.id} and customer.id = r.id
       and not ${hasSameBody(sql`customer.record`, sql`r.body`, '')}`)
}

/** An email address in the form of the index `customer_email`: case and Unicode composition don't matter. */
const comparable = (email: Sql) => sql`lower(normalize(${email}, NFC))`

/** A customer's name in the form of the index `customer_name`. */
const nameKey = sql`(customer_name_key(surname, firstname) collate "C")`

/** Condition: the surname, or surname and first name, begins with this text. A comma between the names is optional. */
const hasNamePrefix = (text: string) => {
  const key = sql`(select customer_name_key(${text.replaceAll(/[\s,]+/g, ' ')}, null))`
  // `chr(1114111)` is the highest code point, so it is the upper bound of the prefix range.
  return sql`and ${nameKey} >= ${key} and ${nameKey} < ${key} || chr(1114111)`
}

interface Filters {
  email?: string | undefined
  name?: string | undefined
  updatedAfter?: string | undefined
  /** True if the records show the e-commerce IDs. */
  ecommerceIds: boolean
}

/** Reads a page of customers (`Customer`): by name, by ID for one email address, otherwise by change. */
export const readCustomerPage = (
  db: Db,
  service: Service,
  { email, name, updatedAfter, ecommerceIds: platformIds }: Filters,
  request: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: 'customer',
      record: platformIds ? customerJson : withoutEcommerceIds,
      ...getOrder({ email, name }),
      key: sql`id`,
      where: sql`
        ${filter(email, text => sql`and ${comparable(sql`email`)} = ${comparable(sql`${text}`)}`)}
        ${filter(name, hasNamePrefix)}`,
      changedAfter: updatedAfter,
    },
    request,
  )

/** A search by email address or name shows the current state. All other requests scan changes. */
const getOrder = ({ email, name }: Pick<Filters, 'email' | 'name'>) => {
  if (name !== undefined) return { live: true, order: { column: nameKey, type: 'text' } } as const
  return email === undefined ? { order: byChangeTimestamp } : { live: true }
}

/** Returns the JSON of a customer. */
export const findCustomer = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(
    sql`select ${customerJson} as record from customer where service_id = ${service.id} and id = ${id}`,
  )

/** Returns the customer with this email address. */
export const findCustomerByEmail = (db: Db, service: Service, email: string) =>
  db.row<{ id: string }>(sql`
    select id from customer where service_id = ${service.id} and ${comparable(sql`email`)} = ${comparable(sql`${email}`)}`)

/** Returns the customers with these IDs. Omits unknown IDs. */
export const findCustomersById = (db: Db, service: Service, ids: readonly string[]) =>
  db.rows<{ id: string }>(
    sql`select id from customer where service_id = ${opaqueServiceId(service)} and id = any(${ids})`,
  )

/** Returns the customers with these email addresses, each with the address as it was requested. */
export const findCustomersByEmail = (db: Db, service: Service, emails: readonly string[]) =>
  db.rows<{ email: string; id: string }>(sql`
    select requested.email, c.id from unnest(${emails}::text[]) requested (email)
      join customer c on c.service_id = ${opaqueServiceId(service)} and lower(normalize(c.email, NFC)) = lower(normalize(requested.email, NFC))`)
