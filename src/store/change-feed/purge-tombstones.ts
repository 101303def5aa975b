import { type Db, sql } from '../../database/db.ts'
import { changeKinds } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

const batchSize = 10_000

/**
 * Deletes tombstones that are older than the retention setting, in batches, and records up to when: older cursors have expired.
 * Keeps the newest tombstone of each kind, and so the newest change timestamp that its list ever had. Returns the number deleted.
 */
export async function purgeOldTombstones(db: Db, service: Service, isOver: () => boolean): Promise<number> {
  let purged = 0
  for (const kind of changeKinds)
    for (let count = batchSize; count === batchSize && !isOver(); purged += count) {
      const ofKind = sql`service_id = ${service.id} and kind = ${kind}`
      const isExpired = sql`${ofKind} and changed_at < now() - make_interval(days => ${service.settings.tombstoneRetentionDays}::integer)`
      // The delete repeats the condition: the record may have been removed again since the select.
      const row = await db.row<{ purged: number }>(sql`
        with expired as (
          select id from tombstone
           where ${isExpired}
             and changed_at < (select max(changed_at) from tombstone where ${ofKind})
           order by changed_at limit ${batchSize}
        ), deleted as (delete from tombstone where ${isExpired} and id in (select id from expired) returning changed_at
        ), recorded as (
          insert into tombstone_purge (service_id, kind, purged_until)
          select ${service.id}, ${kind}, max(changed_at) from deleted having count(*) > 0
          on conflict (service_id, kind) do update set purged_until = greatest(tombstone_purge.purged_until, excluded.purged_until)
        )
        select count(*)::integer as purged from deleted`)
      count = row?.purged ?? 0
    }
  return purged
}
