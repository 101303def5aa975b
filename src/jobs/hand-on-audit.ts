import type { Database } from '../db.ts'
import { handOn, servicesWithLines, waitingLines } from '../store/running/data-databases.ts'
import type { Work } from './job.ts'

/** Lines that go out in one transaction. */
const linesAtOnce = 100

/**
 * Hands lines of the audit on to the data databases in which their services are: accounts are written in the control database. Throws in
 * the end where one was away; the others have had theirs.
 */
export const handOnAudit =
  (open: (database: string) => Promise<{ db: Database }>) =>
  async ({ db, signal }: Work): Promise<void> => {
    let fault: unknown
    for (const { id, database } of await servicesWithLines(db))
      try {
        const data = await open(database)
        for (;;) {
          signal.throwIfAborted()
          const lines = await waitingLines(db, id, linesAtOnce)
          if (!lines.length) break
          await handOn(db, data.db, id, lines)
        }
      } catch (error) {
        signal.throwIfAborted()
        fault = error
      }
    if (fault) throw fault
  }
