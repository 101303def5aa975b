import { decodeCursor } from '../change-feed/subscription.ts'
import { getPushSubscription } from '../ecommerce/stock-push/follow-changes.ts'
import { readCurrentPositions } from '../store/change-feed/newest.ts'
import { mayHaveChanges } from '../store/change-feed/positions.ts'
import { listPushes, pushStockJob } from '../store/ecommerce/push-state.ts'
import { addJob } from '../store/jobs/jobs.ts'
import { readServiceOfJob } from '../store/tenancy/services.ts'
import type { JobRun } from './job.ts'

/** Seconds until the next poll if no service pushes stock, instead of the job's `intervalSeconds`. */
const idleSeconds = 5

/** Queues the stock push of each service that has due levels, or whose stock may have changed since its push cursor. */
export async function scheduleStockPush({ db, keys, reschedule }: JobRun): Promise<void> {
  const pushes = await listPushes(db)
  if (!pushes.length) return reschedule(idleSeconds)
  for (const { serviceId, cursor, hasDueLevels } of pushes) {
    const service = await readServiceOfJob(db, serviceId)
    if (!service) continue
    const subscription = getPushSubscription(service, keys)
    const positions = cursor === null ? undefined : decodeCursor(subscription, cursor)
    const isBehind =
      hasDueLevels ||
      !positions ||
      mayHaveChanges(positions, await readCurrentPositions(db, service, subscription.kinds))
    if (isBehind) await addJob(db, serviceId, pushStockJob)
  }
}
