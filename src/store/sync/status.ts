import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { rfc3339 } from '../lists/rfc3339.ts'
import { isHeld } from './lease.ts'

/** How a feed of a service stands, as its callers are told. Moments are RFC 3339. */
interface SyncFact {
  feed: string
  /** When it last ended well: what it brings is no older. */
  syncedAt: string | null
  lagSeconds: number | null
  lastResult: 'ok' | 'failed' | 'running' | 'none'
  nextAt: string | null
}

/** The name of the job that pulls one feed of one service; its subject is the feed. */
export const syncJob = 'sync-feed'

/** Whether a feed has not ended well for three times as long as it should. */
export const isLate = (lagSeconds: number, everySeconds: number) => lagSeconds > 3 * everySeconds

/** How often a feed is asked, in seconds, by its schedule and by what is known of its back office. */
export const askedEvery = (everySeconds: number, wholeEvery: number | null) => Math.max(everySeconds, wholeEvery ?? 0)

/** The same with what says how often it is asked, where that is less often than it is looked at (`sync_state.whole_every`), in seconds. */
export type SyncStanding = SyncFact & { wholeEvery: number | null }

/** Every feed that was pulled, or is going to be; none where the service's back office has none. */
export const syncFacts = (db: Db, service: Service) =>
  db.rows<SyncStanding>(sql`
    select known.feed, ${rfc3339(sql`s.finished_at`)} as "syncedAt", floor(extract(epoch from now() - s.finished_at))::integer as "lagSeconds",
           case when ${isHeld} then 'running' when s.fault is not null then 'failed'
                when s.finished_at is not null then 'ok' else 'none' end as "lastResult",
           ${rfc3339(sql`j.due_at`)} as "nextAt", s.whole_every as "wholeEvery"
      from (select feed from sync_state where service_id = ${service.id}
             union select subject from job where service_id = ${service.id} and name = ${syncJob}) known
      left join sync_state s on s.service_id = ${service.id} and s.feed = known.feed
      left join job j on j.service_id = ${service.id} and j.name = ${syncJob} and j.subject = known.feed
     order by known.feed`)

/** When each feed of each service last ended well. */
export async function finishedRuns(db: Db): Promise<Map<number, Map<string, string>>> {
  const rows = await db.rows<{ serviceId: number; feed: string; at: string }>(sql`
    select service_id as "serviceId", feed, ${rfc3339(sql`finished_at`)} as at from sync_state where finished_at is not null`)
  const found = new Map<number, Map<string, string>>()
  for (const { serviceId, feed, at } of rows) {
    const feeds = found.get(serviceId) ?? new Map<string, string>()
    found.set(serviceId, feeds.set(feed, at))
  }
  return found
}

/**
 * Notes which back office a service's feeds are pulled from. Where it is another one than before, all that was noted of that one is
 * forgotten, and everything is read anew. Returns whether it was so.
 */
export async function noteSource(tx: Db, service: Service, source: string): Promise<boolean> {
  const changed = await tx.run(sql`
    insert into sync_source as s (service_id, source) values (${service.id}, ${source})
    on conflict (service_id) do update set source = excluded.source where s.source <> excluded.source`)
  if (!changed) return false
  const forgotten = await forgetSync(tx, service)
  return forgotten > 0
}

/** The services that have no back office of their own but were pulled from one, and the driver that it had. */
export const pulledByEnvironment = (db: Db) =>
  db.rows<{ service: string; driver: string }>(sql`
    select name as service, split_part(source, ' ', 1) as driver from sync_source join service using (service_id)
     where not exists (select from back_office b where b.service_id = sync_source.service_id) order by name`)

/** Forgets how far feeds have been read, and what was to be visited. */
async function forgetSync(tx: Db, service: Service): Promise<number> {
  await tx.run(sql`delete from sync_visit where service_id = ${service.id}`)
  return tx.run(sql`delete from sync_state where service_id = ${service.id}`)
}
