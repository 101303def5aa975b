import { randomUUID } from 'node:crypto'
import { type Db, sql } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import type { Reservation } from '../store/writes/intents.ts'
import type { TransactionContext } from './commit.ts'
import type { WriteRuntime } from './execute.ts'
import { runInStages } from './stages.ts'
import type { CommitPhase } from './write.ts'

/** Rolls a transaction back and carries its result. */
class RolledBack<T> extends Error {
  readonly result: T
  constructor(result: T) {
    super('dry run: rolled back')
    this.result = result
  }
}

/**
 * Computes the result of a write and rolls back each of its transactions. The back office is queried but not changed. Two things are
 * kept, because a dry run must not help to guess PINs: failed attempts are counted, and reservations are made as by a write.
 */
export async function dryRun<T>(
  context: TransactionContext,
  service: Service,
  work: (runtime: WriteRuntime) => Promise<CommitPhase<T | ApiError>>,
): Promise<T> {
  const result = await runInStages(context, service, async ({ stage, ...stages }) => {
    const rollBackStage = async <R>(inTransaction: (tx: Db) => Promise<R>, reservation?: Reservation): Promise<R> => {
      // Other writes must see a reservation, so it is committed first. It is released at the end.
      if (reservation) await stage(async () => {}, reservation)
      try {
        return await stage(async tx => {
          const stageResult = await inTransaction(tx)
          if (stageResult instanceof ApiError) return stageResult
          // Statements that were not awaited would fail with the commit, which never comes. This one fails behind them.
          await tx.run(sql`select`)
          throw new RolledBack(stageResult)
        })
      } catch (error) {
        if (error instanceof RolledBack) return error.result
        throw error
      }
    }
    const commit = await work({
      ...stages,
      stage: rollBackStage,
      reference: randomUUID().replaceAll('-', ''),
      isKeyed: false,
      isRecovering: false,
      previouslyInDoubt: () => false,
      isDryRun: true,
      recordEffect() {},
    })
    const commitResult = await rollBackStage(commit)
    return async () => commitResult
  })
  if (result instanceof ApiError) throw result
  return result
}
