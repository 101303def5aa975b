import { setTimeout as delay } from 'node:timers/promises'
import { decodeCursor, encodeCursor } from '../change-feed/subscription.ts'
import { readChanges } from '../store/change-feed/changes.ts'
import {
  type EndpointState,
  moveCursor,
  type PendingDelivery,
  readEndpointState,
  recordFailure,
  recordSuccess,
  storeDelivery,
} from '../store/webhooks/deliveries.ts'
import { pauseExpired } from '../store/webhooks/endpoints.ts'
import { runInSpan } from '../telemetry/current-context.ts'
import { failpoint } from '../testing/failpoints.ts'
import { buildDelivery, maxChanges } from '../webhooks/delivery.ts'
import { type Channel, postSigned, type Sender } from '../webhooks/sender.ts'
import type { ServiceJobRun } from './job.ts'
import { retryUntilRecorded } from './retry-until-recorded.ts'

/** Maximum milliseconds of one run, so that other endpoints are served. */
const maxRunMs = 5_000

/**
 * Sends an endpoint its changes, one delivery after the other, until none is left. A delivery is stored before it is sent, and recording
 * its success moves the endpoint's cursor. After a crash in between, the same delivery is sent again.
 */
export const deliverWebhook =
  (sender: Sender) =>
  async (work: ServiceJobRun): Promise<void> => {
    const { db, keys, service, subject: id, reschedule, signal } = work
    const deadline = performance.now() + maxRunMs
    let channel: Channel | undefined
    try {
      for (;;) {
        const endpoint = await readEndpointState(db, keys, service, id)
        if (!endpoint || endpoint.state === 'paused') return
        if (endpoint.waitSeconds > 0) return reschedule(endpoint.waitSeconds)
        const next = endpoint.delivery ?? (await prepareDelivery(work, endpoint))
        if (next === 'caughtUp') return
        if (next !== 'cursorMoved') {
          if (channel?.url !== endpoint.url) {
            channel?.close()
            channel = sender.openChannel(endpoint.url)
          }
          const waitSeconds = await attemptDelivery(work, channel, endpoint, next)
          if (waitSeconds === undefined) return
          if (waitSeconds > 0) return reschedule(waitSeconds)
          if (endpoint.isCatchingUp) await delay(catchUpIntervalMs, undefined, { signal })
        }
        if (performance.now() > deadline) return reschedule(0)
      }
    } finally {
      channel?.close()
    }
  }

/**
 * Stores and returns the next delivery. Returns `caughtUp` if no change is left or the endpoint's cursor has expired, which pauses it.
 * Returns `cursorMoved` if the endpoint's cursor has moved, so its state must be read again.
 */
async function prepareDelivery(
  { db, keys, service, log }: ServiceJobRun,
  endpoint: EndpointState,
): Promise<PendingDelivery | 'caughtUp' | 'cursorMoved'> {
  const subscription = { service, kinds: endpoint.kinds, key: keys.cursors }
  const positions = decodeCursor(subscription, endpoint.cursor)
  const page = positions && (await readChanges(db, service, positions, { limit: maxChanges, records: false }))
  if (!page) {
    if (!(await pauseExpired(db, service, endpoint))) return 'cursorMoved'
    log.error(
      { alert: 'webhook_expired', service: service.name, webhook: endpoint.id },
      'webhook was down too long, webhook paused',
    )
    return 'caughtUp'
  }
  if (!page.changes.length) {
    await moveCursor(db, service, endpoint, encodeCursor(subscription, page.positions), !page.hasMore)
    return page.hasMore ? 'cursorMoved' : 'caughtUp'
  }
  const delivery = buildDelivery(subscription, page)
  return (await storeDelivery(db, service, endpoint, delivery)) ? delivery : 'cursorMoved'
}

/** Makes one attempt and records its result. Returns the seconds until the next attempt, or undefined if no attempt follows. */
async function attemptDelivery(
  work: ServiceJobRun,
  channel: Channel,
  endpoint: EndpointState,
  delivery: PendingDelivery,
): Promise<number | undefined> {
  const { db, service, signal, renewLease, log } = work
  failpoint('before_post')
  // If this process was halted for longer than its lease, another one has taken over.
  if (!(await renewLease())) return
  const timestamp = Math.floor(Date.now() / 1_000)
  const { id: deliveryId, body, changes } = delivery
  const { retryAfterSeconds, ...outcome } = await runInSpan(
    'post webhook',
    'client',
    { 'tillbridge.changes': changes },
    () => postSigned(channel, endpoint.secrets, { id: deliveryId, timestamp, body }, signal),
  )
  failpoint('after_post')
  const attempt = { ...outcome, deliveryId, changes }
  if (outcome.error === null) {
    await retryUntilRecorded(() => recordSuccess(db, service, endpoint, delivery, attempt))
    return 0
  }
  const waitSeconds = getRetryDelaySeconds(endpoint.failures + 1, retryAfterSeconds)
  const isGone = outcome.status === 410
  await retryUntilRecorded(() => recordFailure(db, service, endpoint.id, delivery, attempt, { waitSeconds, isGone }))
  const fields = { service: service.name, webhook: endpoint.id, status: outcome.status, fault: outcome.error }
  if (isGone) {
    log.warn(fields, 'webhook delivery rejected, webhook paused')
    return
  }
  log.warn({ ...fields, againInSeconds: waitSeconds }, 'webhook delivery failed, will retry')
  return waitSeconds
}

/** Delays after the first failure, the second, and so on. The last one is repeated. */
const retryDelaysSeconds = [5, 30, 120, 600, 1_800, 3_600]
/** Upper bound of `Retry-After`. */
const maxDelaySeconds = 86_400

/** Returns the seconds until the next attempt, after `failures` consecutive failures. */
function getRetryDelaySeconds(failures: number, retryAfterSeconds = 0): number {
  const wait = retryDelaysSeconds[failures - 1] ?? retryDelaysSeconds.at(-1) ?? 0
  return Math.min(Math.max(wait, retryAfterSeconds), maxDelaySeconds)
}

/**
 * After failures, an endpoint gets one delivery per this many milliseconds until it has caught up: at most 1,000 changes
 * a second.
 */
const catchUpIntervalMs = 100
