import type { Database } from '../database/db.ts'
import { handOnAll, servicesWithLines } from '../store/shards/shards.ts'
import type { JobRun } from './job.ts'

/**
 * Hands lines of the audit on to the data databases of their services: accounts are written in the control database. A line that arrives
 * twice is there once. Where a database was away it throws, once the others have had theirs.
 */
export const handOnAudit =
  (open: (database: string) => Promise<{ db: Database }>) =>
  async ({ db, signal }: JobRun): Promise<void> => {
    let fault: unknown
    for (const { id, database } of await servicesWithLines(db))
      try {
        await handOnAll(db, (await open(database)).db, id, signal)
      } catch (error) {
        signal.throwIfAborted()
        fault = error
      }
    if (fault) throw fault
  }
