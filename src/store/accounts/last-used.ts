import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The use of a service by an account. */
export interface AccountUse {
  serviceId: number
  username: string
  /** The name of the API key. Undefined: a password or a session. */
  apiKey?: string | undefined
}

/** Records that accounts and API keys were used now. Rows are locked in one order, so that processes can't deadlock. */
export async function recordUses(db: Db, uses: readonly AccountUse[]) {
  const used = JSON.stringify(uses)
  await db.run(sql`
    insert into account_use as u (service_id, username, used_at)
    select a.service_id, a.username, now()
      from (select distinct "serviceId", username from json_to_recordset(${used}) as r ("serviceId" integer, username text)) used
      join account_service a on a.service_id = used."serviceId" and a.username = used.username
     order by 1, 2
       for key share of a
    on conflict (service_id, username) do update set used_at = excluded.used_at where u.used_at < now() - interval '30 s'`)
  if (uses.some(({ apiKey }) => apiKey !== undefined))
    await db.run(sql`
      update api_key k set used_at = now()
        from (select a.service_id, a.username, a.name
                from json_to_recordset(${used}) as r ("serviceId" integer, username text, "apiKey" text)
                join api_key a on a.service_id = r."serviceId" and a.username = r.username and a.name = r."apiKey"
               where used_at is null or used_at < now() - interval '30 s'
               order by 1, 2, 3
                 for no key update of a) used
       where k.service_id = used.service_id and k.username = used.username and k.name = used.name`)
}

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

/** Returns the deprecated operations that an account has used in a service, with the number of requests. */
export const listDeprecatedUses = (db: Db, service: Pick<Service, 'id'>, username: string) =>
  db.rows<{ operation: string; requests: number; lastUsedAt: string }>(sql`
    select operation, requests::float8 as requests, ${rfc3339(sql`used_at`)} as "lastUsedAt"
      from deprecated_use where service_id = ${service.id} and username = ${username} order by operation`)
