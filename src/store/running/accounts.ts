import { type Db, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'
import { localTime } from '../lists/change.ts'
import { type PageRequest, readPage } from '../lists/page.ts'

/** The record (`Account`) of a row of `account_service`. */
const record = (service: Service) => sql`
  (select row_to_json(r)::text from (select account_service.username, account_service.role,
     (select count(*) from account_password p where p.username = account_service.username) as passwords,
     ${localTime(sql`account_service.changed_at`, service)} as since) r)`

/** The accounts that are assigned to a service, by their names. */
export const accountPage = (db: Db, service: Service, asked: PageRequest) =>
  readPage(db, service, { table: sql`account_service`, record: record(service), key: sql`username`, live: true }, asked)

/** The record of one account that is assigned to the service, as JSON text. */
export const accountRecord = (db: Db, service: Service, username: string) =>
  db.row<{ record: string }>(sql`
    select ${record(service)} as record from account_service where service_id = ${service.id} and username = ${username}`)
