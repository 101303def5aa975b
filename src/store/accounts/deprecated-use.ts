import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** Requests of an account to a deprecated operation. */
export interface DeprecatedUse {
  serviceId: number
  username: string
  operation: string
  requests: number
}

/** Adds requests to the stored counts. Rows are locked in one order, so that processes can't deadlock. */
export const recordDeprecatedUses = (db: Db, uses: readonly DeprecatedUse[]) =>
  db.run(sql`
    insert into deprecated_use as u (service_id, username, operation, requests, used_at)
    select a.service_id, a.username, used.operation, used.requests, now()
      from json_to_recordset(${JSON.stringify(uses)}) as used ("serviceId" integer, username text, operation text, requests bigint)
      join account_service a on a.service_id = used."serviceId" and a.username = used.username
     order by 1, 2, 3
       for key share of a
    on conflict (service_id, username, operation) do update set (requests, used_at) = (u.requests + excluded.requests, excluded.used_at)`)

export const listDeprecatedUses = (db: Db, service: Pick<Service, 'id'>, username: string) =>
  db.rows<{ operation: string; requests: number; lastUsedAt: string }>(sql`
    select operation, requests::float8 as requests, ${rfc3339(sql`used_at`)} as "lastUsedAt"
      from deprecated_use where service_id = ${service.id} and username = ${username} order by operation`)
