import type { Database } from '../database/db.ts'
import { forwardAuditEntries, listServicesWithPendingAudit } from '../store/shards/shards.ts'
import { type JobRun, throwErrors } from './job.ts'

/**
 * Forwards audit entries to the shards of their services, because accounts are written in the control database. An entry that arrives
 * twice is stored once. If a shard is unavailable, it throws after the others are done.
 */
export const forwardAudit =
  (open: (database: string) => Promise<{ db: Database }>) =>
  async ({ db, signal }: JobRun): Promise<void> => {
    const errors: unknown[] = []
    for (const { id, database } of await listServicesWithPendingAudit(db))
      try {
        await forwardAuditEntries(db, (await open(database)).db, id, signal)
      } catch (error) {
        signal.throwIfAborted()
        errors.push(error)
      }
    throwErrors(errors, 'audit entries could not be forwarded to every shard')
  }
