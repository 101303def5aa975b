import type { BackOffices } from '../backoffice/back-offices.ts'
import { retryOnContention } from '../database/pg/contention.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import {
  expireRedemptions,
  getRedemptionLock,
  listDueRedemptions,
  listServicesWithDueRedemptions,
  lockDueRedemption,
  setRedemptionStatus,
} from '../store/rewards/redemptions.ts'
import { makeRefreshDue } from '../store/sync/refreshes.ts'
import { readServiceOfJob } from '../store/tenancy/services.ts'
import { runInStages } from '../writes/stages.ts'
import { type Job, type JobRun, throwErrors } from './job.ts'

/**
 * Ends expired redemptions of rewards and publishes their reward accounts. If the back office also stores redemptions, releases each one
 * there first, by its request ID, so that a second run has no further effect.
 */
export const endRedemptions = (offices: Pick<BackOffices, 'getDriver'>): Job => ({
  run: work => run(offices, work),
  intervalSeconds: 2,
  concurrency: 1,
  retryDelaysSeconds: [5, 30],
})

async function run(offices: Pick<BackOffices, 'getDriver'>, { db, keys, signal }: JobRun): Promise<void> {
  const errors: unknown[] = []
  for (const id of await listServicesWithDueRedemptions(db))
    try {
      const service = await readServiceOfJob(db, id)
      if (service) await endServiceRedemptions(offices, { db, keys, signal }, service)
    } catch (error) {
      signal.throwIfAborted()
      errors.push(error)
    }
  throwErrors(errors, 'redemptions of several services could not be ended')
}

async function endServiceRedemptions(
  offices: Pick<BackOffices, 'getDriver'>,
  { db, keys, signal }: Pick<JobRun, 'db' | 'keys' | 'signal'>,
  service: Service,
): Promise<void> {
  const { finishRedemption } = offices.getDriver(service)
  const errors: unknown[] = []
  do {
    const due = await listDueRedemptions(db, service)
    if (!due.length) break
    signal.throwIfAborted()
    if (!finishRedemption) await retryOnContention(() => db.transaction(tx => expireRedemptions(tx, service, due)))
    else
      for (const { requestId, accountId } of due)
        try {
          await runInStages({ db, keys }, service, async ({ stage }) => {
            const names = [getRedemptionLock(requestId)]
            const status = await stage(tx => lockDueRedemption(tx, service, requestId), { names })
            if (status === undefined) return async () => {}
            const ended = await finishRedemption({ requestId, status }, signal)
            return async tx => {
              setRedemptionStatus(tx, service, { requestId }, ended)
              await makeRefreshDue(tx, service, 'reward-accounts', accountId)
            }
          })
        } catch (error) {
          signal.throwIfAborted()
          errors.push(error)
        }
  } while (!errors.length)
  throwErrors(errors, 'several redemptions could not be ended')
}
