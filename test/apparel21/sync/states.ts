import { type Db, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { isHeld } from '../../../src/store/sync/lease.ts'

/** How far a feed has been read. */
interface SyncState {
  feed: string
  since: string | null
  startedAt: Date | null
  finishedAt: Date | null
  fullAt: Date | null
  read: number
  inserted: number
  changed: number
  removed: number
  refused: number
  notes: Record<string, number>
  fault: string | null
  failedAt: Date | null
  running: boolean
}

/** How each feed of a service stands. */
export const syncStates = (db: Db, service: Service) =>
  db.rows<SyncState>(sql`
    select feed, since, started_at as "startedAt", finished_at as "finishedAt", full_at as "fullAt",
           read::integer, inserted::integer, changed::integer, removed::integer, refused::integer, notes, fault, failed_at as "failedAt",
           ${isHeld} as running
      from sync_state s where service_id = ${service.id} order by feed`)
