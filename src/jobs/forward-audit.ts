import type { Database } from '../database/db.ts'
import { handOnAll, servicesWithLines } from '../store/shards/shards.ts'
import { type JobRun, throwErrors } from './job.ts'

/**
 * Hands lines of the audit on to the data databases of their services: accounts are written in the control database. A line that arrives
 * twice is there once. Where a database was away it throws, once the others have had theirs.
 */
export const forwardAudit =
  (open: (database: string) => Promise<{ db: Database }>) =>
  async ({ db, signal }: JobRun): Promise<void> => {
    const errors: unknown[] = []
    for (const { id, database } of await servicesWithLines(db))
      try {
        await handOnAll(db, (await open(database)).db, id, signal)
      } catch (error) {
        signal.throwIfAborted()
        errors.push(error)
      }
    throwErrors(errors, 'audit entries could not be forwarded to every shard')
  }
