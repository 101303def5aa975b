import { type Db, sql } from '../../database/db.ts'
import { kinds } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

const portion = 10_000

/**
 * Forgets removals that are older than the setting `removalsKeptDays`, a portion at a time, and remembers that: cursors from before
 * them have expired. The newest of each kind stays, and with it the newest stamp that its list ever had. Returns how many there were.
 */
export async function forgetRemovals(db: Db, service: Service, isOver: () => boolean): Promise<number> {
  let forgotten = 0
  for (const kind of kinds)
    for (let some = portion; some === portion && !isOver(); forgotten += some) {
      const mine = sql`service_id = ${service.id} and kind = ${kind}`
      const isOld = sql`${mine} and changed_at < now() - make_interval(days => ${service.settings.removalsKeptDays}::integer)`
      // Said again of what is deleted: it may have left anew since it was found.
      const row = await db.row<{ forgotten: number }>(sql`
        with old as (
          select id from removal
           where ${isOld}
             and changed_at < (select max(changed_at) from removal where ${mine})
           order by changed_at limit ${portion}
        ), gone as (delete from removal where ${isOld} and id in (select id from old) returning changed_at
        ), noted as (
          insert into forgotten_removals (service_id, kind, newest)
          select ${service.id}, ${kind}, max(changed_at) from gone having count(*) > 0
          on conflict (service_id, kind) do update set newest = greatest(forgotten_removals.newest, excluded.newest)
        )
        select count(*)::integer as forgotten from gone`)
      some = row?.forgotten ?? 0
    }
  return forgotten
}
