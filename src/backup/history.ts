import { type Db, sql } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'

/** The interval of backups that Tillbridge doesn't schedule: nightly. */
export const defaultBackupIntervalHours = 24

/** Records the time of a complete backup, unless a later one is recorded. */
export const recordBackup = (db: Db, takenAt: string) =>
  db.run(sql`update installation set backed_up_at = greatest(backed_up_at, ${takenAt}::timestamptz)`)

/** Returns the time of the newest backup and its age in hours. Returns undefined if no backup was recorded. */
export async function findNewestBackup(db: Db) {
  const row = await db.row<{ at: Date | null; hours: number | null }>(sql`
    select backed_up_at as at, extract(epoch from now() - backed_up_at)::float8 / 3600 as hours from installation`)
  return row?.at && row.hours !== null ? { at: row.at, hours: row.hours } : undefined
}

/**
 * Records for each service, or for one, that it was restored. Older cursors are rejected after that, because their owners may have seen
 * changes that were lost.
 */
export const recordRestore = (db: Db, { id }: Partial<Pick<Service, 'id'>> = {}) =>
  db.run(sql`update service set restored_at = clock_timestamp() where service_id = coalesce(${id ?? null}, service_id)`)

/** Unlocks services that were being deleted or moved when the backup was made, because the backup contains them completely. */
export const unlockServices = (db: Db) =>
  db.run(sql`
    update service set deletion_state = nullif(deletion_state, 'locked'), move_state = case when move_state in ('incoming', 'moved_away') then move_state end
     where deletion_state = 'locked' or move_state is not null`)
