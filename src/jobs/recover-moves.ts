import type { Database } from '../database/db.ts'
import { recoverMove } from '../store/moves/finish.ts'
import { listAbandonedMoves, takeOverMove } from '../store/moves/moves.ts'
import { type JobRun, throwErrors } from './job.ts'

/**
 * Ends moves and restores of services whose process died: undoes them, or finishes moves after the cutover. One process at a time owns a move, and each
 * step detects earlier work. If a database is unavailable, it throws after the others are done.
 */
export const recoverMoves =
  (open: (database: string) => Promise<{ db: Database }>) =>
  async ({ db, log, signal }: JobRun): Promise<void> => {
    const errors: unknown[] = []
    for (const abandoned of await listAbandonedMoves(db))
      try {
        const { name, source, target } = abandoned
        const from = source === null ? { db } : await open(source)
        const to =
          target === null
            ? undefined
            : await open(target).catch(error => {
                errors.push(error)
              })
        const move = await takeOverMove(db, abandoned)
        if (!move) continue
        const databases = { control: db, source: from.db, target: to?.db }
        const result = await recoverMove(databases, move, signal)
        if (!result) continue
        log.warn(
          { service: name, target, result },
          `interrupted service ${target === null ? 'restore' : 'move'} ${result}`,
        )
      } catch (error) {
        signal.throwIfAborted()
        errors.push(error)
      }
    throwErrors(errors, 'service moves could not be recovered')
  }
