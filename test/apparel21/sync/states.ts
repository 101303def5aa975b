import { type Db, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { isLeased } from '../../../src/store/sync/lease.ts'

/** How far a sync has been read. */
interface SyncState {
  sync: string
  since: string | null
  startedAt: Date | null
  finishedAt: Date | null
  fullAt: Date | null
  read: number
  inserted: number
  changed: number
  removed: number
  rejected: number
  notes: Record<string, number>
  error: string | null
  failedAt: Date | null
  running: boolean
}

/** How each sync of a service stands. */
export const syncStates = (db: Db, service: Service) =>
  db.rows<SyncState>(sql`
    select sync, since, started_at as "startedAt", finished_at as "finishedAt", full_at as "fullAt",
           read::integer, inserted::integer, changed::integer, removed::integer, rejected::integer, notes, error, failed_at as "failedAt",
           ${isLeased} as running
      from sync_state s where service_id = ${service.id} order by sync`)
