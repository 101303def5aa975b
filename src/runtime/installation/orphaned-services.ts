import type { Config } from '../../config/config.ts'
import type { Db } from '../../database/db.ts'
import { embeddedName } from '../../domain/tenancy/back-office-settings.ts'
import { findSyncedByEnvironment } from '../../store/sync/status.ts'

/** Returns a warning with a remedy for each service whose back office was named by the environment only, and is missing there now. */
export async function findOrphanedServices({ backOffice }: Config, db: Db): Promise<string[]> {
  if (backOffice !== embeddedName) return []
  return (await findSyncedByEnvironment(db)).map(
    ({ service, driver }) =>
      `Service ${service} was synced from ${driver}, but BACK_OFFICE, BACK_OFFICE_URL and BACK_OFFICE_COUNTRY are not set. Writes stay in Tillbridge and never reach that back office. Set them, or run "tillbridge back-office set ${service} driver=embedded".`,
  )
}
