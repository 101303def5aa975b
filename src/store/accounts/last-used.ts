import { type Db, sql } from '../../database/db.ts'

/** The use of a service by an account. */
export interface AccountUse {
  serviceId: number
  username: string
}

/** Records that accounts were used now. Rows are locked in one order, so that processes can't deadlock. */
export const recordUses = (db: Db, uses: readonly AccountUse[]) =>
  db.run(sql`
    insert into account_use as u (service_id, username, used_at)
    select a.service_id, a.username, now()
      from json_to_recordset(${JSON.stringify(uses)}) as used ("serviceId" integer, username text)
      join account_service a on a.service_id = used."serviceId" and a.username = used.username
     order by 1, 2
       for key share of a
    on conflict (service_id, username) do update set used_at = excluded.used_at where u.used_at < now() - interval '30 s'`)
