import { type Sql, sql } from '../../database/db.ts'

/** The amount of `lot` that pending redemptions have reserved. */
export const reservedOfLot = (lot: Sql) => sql`
  (select coalesce(sum(p.amount), 0) from reward_redemption_part p join reward_redemption r on r.service_id = p.service_id and r.request_id = p.request_id
    where p.service_id = ${lot}.service_id and p.account_id = ${lot}.account_id and p.lot_kind = ${lot}.kind and p.lot_id = ${lot}.lot_id
      and r.status = 'pending' and r.expires_at > clock_timestamp())`
