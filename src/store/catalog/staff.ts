import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginSourceDatedChange, changeTimestamp, mergedRowTimes } from '../lists/back-date.ts'
import { countUpsert, type Upserted } from '../lists/change-timestamp.ts'
import { buildColumnLists, isDifferent, type MergeTable, mergeRows, onConflictUpdate } from '../lists/merge.ts'
import { dropOutdated, mergedContentTime, type WriteContext } from '../lists/outdated.ts'
import { filter, type PageRequest, readPage } from '../lists/page.ts'

const staff: MergeTable = {
  name: 'staff',
  key: ['id'],
  columns: ['service_id', 'id', 'code', 'firstname', 'surname', 'email', 'store_number', 'active'],
  defaults: { active: true },
}
const content = buildColumnLists(staff)

/** Merges rows (`StaffRow`) into the staff. */
export function upsertStaff(
  db: Database,
  service: Service,
  rows: readonly object[],
  context?: WriteContext,
): Promise<Upserted> {
  return db.transaction(async tx => {
    const { current, outdated } = await dropOutdated(tx, service, staff, rows, context)
    const change = await beginSourceDatedChange(tx, service, 'staff', current)
    const counts = await countUpsert(
      tx,
      sql`
        insert into staff (${content.list}, changed_at, source_changed_at, record)
        select ${content.qualify('c')}, ${changeTimestamp(mergedRowTimes, service, change)}, ${mergedContentTime(staff, 'c', service, change)},
               (select row_to_json(r)::text from (select c.id, c.code, c.firstname, c.surname, c.email, c.store_number as "storeNumber", c.active) r)
          from ${mergeRows(service, staff, current, 'c')}
         where ${isDifferent(staff, 'c')}
        ${onConflictUpdate(staff, ['changed_at', 'source_changed_at', 'record'])}
        returning (xmax = 0) as inserted`,
    )
    return { ...counts, outdated }
  })
}

interface Filters {
  email?: string | undefined
  code?: string | undefined
}

/** Reads a page of the staff (`StaffMember`), by ID. */
export const readStaffPage = (db: Db, service: Service, { email, code }: Filters, request: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: 'staff',
      record: sql`record`,
      key: sql`id`,
      live: true,
      where: sql`${filter(email, value => sql`and lower(email) = lower(${value})`)} ${filter(code, value => sql`and code = ${value}`)}`,
    },
    request,
  )

/** Returns the staff members with these codes. */
export const findStaffByCode = (db: Db, service: Service, codes: readonly string[]) =>
  db.rows<{ id: string }>(sql`select id from staff where service_id = ${service.id} and code = any(${codes})`)

/** Returns the JSON of a staff member. */
export const findStaffMember = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(sql`select record from staff where service_id = ${service.id} and id = ${id}`)
