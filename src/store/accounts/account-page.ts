import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { localTime } from '../lists/change-timestamp.ts'
import { filter, type PageRequest, readPage } from '../lists/page.ts'

/** SQL for the record (`Account`) of a row of `account_service`, with additional columns. */
const record = (service: Service, extraColumns = sql``) => sql`
  (select row_to_json(r)::text from (select account_service.username, account_service.role, account_service.is_program as "isProgram",
     (select count(*) from account_password p where p.username = account_service.username) as passwords,
     ${localTime(sql`account_service.changed_at`, service)} as since ${extraColumns}) r)`

/** When an account was last used in its service. */
const lastUsed = sql`
  (select used_at from account_use u where u.service_id = account_service.service_id and u.username = account_service.username)`

/** Reads a page of the accounts that are assigned to a service (`ListedAccount`), by username. */
export function readAccountPage(
  db: Db,
  service: Service,
  { isProgram }: { isProgram: boolean | undefined },
  request: PageRequest,
) {
  const used = sql`, ${localTime(lastUsed, service)} as "lastUsedAt"`
  return readPage(
    db,
    service,
    {
      table: sql`account_service`,
      record: record(service, used),
      key: sql`username`,
      live: true,
      where: filter(isProgram, value => sql`and is_program = ${value}`),
    },
    request,
  )
}

/** Returns the record of an account that is assigned to the service, as JSON text. */
export const findAccountRecord = (db: Db, service: Service, username: string) =>
  db.row<{ record: string }>(sql`
    select ${record(service)} as record from account_service where service_id = ${service.id} and username = ${username}`)
