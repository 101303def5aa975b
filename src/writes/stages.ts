import { randomUUID } from 'node:crypto'
import { type Db, sendWithCommit } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { requireWritable } from '../store/lists/change-timestamp.ts'
import { giveBackHolds } from '../store/writes/intents.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { inTheWay, type Site, transact } from './commit.ts'
import { holdingsOf, TakenOver } from './locks.ts'
import type { CommitPhase, Steps } from './write.ts'

/** Does something that takes steps, and of which nothing is left to find out, whatever becomes of it: a reading that counts, or holds. */
export async function inSteps<T>(
  site: Site,
  service: Service,
  work: (steps: Steps) => Promise<CommitPhase<T>>,
): Promise<T> {
  const owner = randomUUID()
  const holdings = holdingsOf(site.keys, service, owner)
  let holds = false
  const inTransaction = <R>(of: (tx: Db) => Promise<R>) =>
    transact(site, service, async tx => {
      sendWithCommit(requireWritable(tx, service))
      if (!(await holdings.keeps(tx))) throw new TakenOver()
      return of(tx)
    })
  const step: Steps['step'] = async (of, holding) => {
    holds ||= holding !== undefined
    const done = await inTransaction(async tx => {
      await holdings.take(tx, holding)
      return of(tx)
    })
    holdings.taken(holding)
    return done
  }
  try {
    const finish = await work({ step, read: of => of(site.db), learn: of => step(of) })
    return await inTransaction(async tx => {
      if (holds) await giveBackHolds(tx, service, owner)
      return finish(tx)
    })
  } catch (error) {
    if (holds) await ignoreError(giveBackHolds(site.db, service, owner), 'write reservations expire')
    throw error instanceof TakenOver ? inTheWay() : error
  } finally {
    holdings.letGo()
  }
}
