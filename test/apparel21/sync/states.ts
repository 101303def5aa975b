import { type Db, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { isLeased } from '../../../src/store/sync/lease.ts'

/** The state of a sync, with the counts of its last run. */
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

/** Returns the states of a service's syncs, by name. */
export const loadSyncStates = (db: Db, service: Service) =>
  db.rows<SyncState>(sql`
    select sync, since, started_at as "startedAt", finished_at as "finishedAt", full_at as "fullAt",
           read::integer, inserted::integer, changed::integer, removed::integer, rejected::integer, notes, error, failed_at as "failedAt",
           ${isLeased} as running
      from sync_state s where service_id = ${service.id} order by sync`)
