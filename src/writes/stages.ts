import { randomUUID } from 'node:crypto'
import { awaitAtCommit, type Db } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { requireWritable } from '../store/lists/change-timestamp.ts'
import { releaseReservations } from '../store/writes/intents.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { concurrentUpdate, type TransactionContext, transact } from './commit.ts'
import { createReservations, LeaseLost } from './reservations.ts'
import type { CommitPhase, Stages } from './write.ts'

/** Runs work in stages, without a claim: for a read that counts or reserves something, and leaves nothing to recover. */
export async function runInStages<T>(
  context: TransactionContext,
  service: Service,
  work: (stages: Stages) => Promise<CommitPhase<T>>,
): Promise<T> {
  const owner = randomUUID()
  const reservations = createReservations(context.keys, service, owner)
  let hasReserved = false
  const runTransaction = <R>(inTransaction: (tx: Db) => Promise<R>) =>
    transact(context, service, async tx => {
      awaitAtCommit(requireWritable(tx, service))
      if (!(await reservations.renew(tx))) throw new LeaseLost()
      return inTransaction(tx)
    })
  const stage: Stages['stage'] = async (inTransaction, reservation) => {
    hasReserved ||= reservation !== undefined
    const result = await runTransaction(async tx => {
      await reservations.reserve(tx, reservation)
      return inTransaction(tx)
    })
    reservations.onCommitted(reservation)
    return result
  }
  try {
    const commit = await work({
      stage,
      read: query => query(context.db),
      recordFact: inTransaction => stage(inTransaction),
    })
    return await runTransaction(async tx => {
      if (hasReserved) await releaseReservations(tx, service, owner)
      return commit(tx)
    })
  } catch (error) {
    if (hasReserved) await ignoreError(releaseReservations(context.db, service, owner), 'write reservations expire')
    throw error instanceof LeaseLost ? concurrentUpdate() : error
  } finally {
    reservations.release()
  }
}
