import { decodeCursor } from '../change-feed/subscription.ts'
import { type Alert, raiseAlert } from '../store/alerts/alerts.ts'
import { readCurrentPositions } from '../store/change-feed/newest.ts'
import { mayHaveChanges } from '../store/change-feed/positions.ts'
import { readServiceOfJob } from '../store/tenancy/services.ts'
import {
  addDeliveryJobs,
  type FailingEndpoint,
  failingAlert,
  findIdleWebhooks,
  hasWebhooks,
  type IdleEndpoint,
  markNewlyFailing,
} from '../store/webhooks/schedule.ts'
import type { JobRun } from './job.ts'

/** Seconds until the next poll if there is no endpoint. Creating an endpoint queues a poll. */
const idleSeconds = 5

/** Queues deliveries for endpoints with undelivered changes, and alerts for failing endpoints. */
export async function scheduleDeliveries(work: JobRun): Promise<void> {
  const { db, reschedule } = work
  if (!(await hasWebhooks(db))) return reschedule(idleSeconds)
  await alertOfFailing(work)
  const idle = await findIdleWebhooks(db)
  await Promise.all(
    [...Map.groupBy(idle, ({ serviceId }) => serviceId)].map(([id, endpoints]) => queueDeliveries(work, id, endpoints)),
  )
}

async function queueDeliveries({ db, keys }: JobRun, serviceId: number, idle: readonly IdleEndpoint[]) {
  const service = await readServiceOfJob(db, serviceId)
  if (!service) return
  const kinds = [...new Set(idle.flatMap(endpoint => endpoint.kinds))]
  const newest = await readCurrentPositions(db, service, kinds)
  const isBehind = (endpoint: IdleEndpoint) => {
    const positions = decodeCursor({ service, kinds: endpoint.kinds, key: keys.cursors }, endpoint.cursor)
    return endpoint.hasDelivery || !positions || mayHaveChanges(positions, newest)
  }
  const behind = idle.filter(isBehind).map(({ id }) => id)
  if (behind.length) await addDeliveryJobs(db, service, behind)
}

async function alertOfFailing({ db, log }: JobRun) {
  // In one transaction, so that an endpoint that succeeds now resolves the alert after it was raised.
  const failing = await db.transaction(async tx => {
    const endpoints = await markNewlyFailing(tx)
    for (const endpoint of endpoints) await raiseAlert(tx, endpoint.serviceId, toAlert(endpoint))
    return endpoints
  })
  for (const { serviceId, id, url, since } of failing)
    log.error(
      { alert: failingAlert, service: serviceId, webhook: id, host: getHost(url), since },
      'webhook endpoint keeps failing',
    )
}

const getHost = (url: string) => new URL(url).host

const toAlert = ({ id, url, since }: FailingEndpoint): Alert => ({
  kind: failingAlert,
  subject: id,
  detail: `The webhook ${id} (${getHost(url)}) has failed since ${since}. Nothing is lost: delivery resumes when the endpoint responds.`,
})
