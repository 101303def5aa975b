import { setTimeout as delay } from 'node:timers/promises'
import { decodeCursor, encodeCursor } from '../change-feed/subscription.ts'
import { readChanges } from '../store/change-feed/changes.ts'
import {
  type Delivery,
  type Due,
  keepDelivery,
  markFailed,
  markTaken,
  passOver,
  readDue,
} from '../store/webhooks/deliveries.ts'
import { pauseExpired } from '../store/webhooks/endpoints.ts'
import { traced } from '../telemetry/current-context.ts'
import { failpoint } from '../testing/failpoints.ts'
import { buildDelivery } from '../webhooks/delivery.ts'
import { maxChanges } from '../webhooks/payload.ts'
import { catchUpIntervalMs, getRetryDelaySeconds } from '../webhooks/retry-delays.ts'
import type { Channel, Sender } from '../webhooks/sender.ts'
import { postSigned } from '../webhooks/signed-post.ts'
import type { ServiceJobRun } from './job.ts'
import { retryUntilRecorded } from './retry-until-recorded.ts'

/** A job lasts so long at most, so that others have their turn. Milliseconds. */
const mostMs = 5_000

/**
 * Sends an endpoint its changes, one delivery after the other, until none is left. A delivery is stored before it is sent, and recording
 * its success moves the endpoint's cursor. After a crash in between, the same delivery is sent again.
 */
export const deliverWebhook =
  (sender: Sender) =>
  async (work: ServiceJobRun): Promise<void> => {
    const { db, keys, service, subject: id, reschedule, signal } = work
    const latest = performance.now() + mostMs
    let channel: Channel | undefined
    try {
      for (;;) {
        const due = await readDue(db, keys, service, id)
        if (!due || due.state === 'paused') return
        if (due.waitSeconds > 0) return reschedule(due.waitSeconds)
        const next = due.delivery ?? (await putTogether(work, due))
        if (next === 'nothing') return
        if (next !== 'anew') {
          if (channel?.url !== due.url) {
            channel?.close()
            channel = sender.openChannel(due.url)
          }
          const wait = await deliver(work, channel, due, next)
          if (wait === undefined) return
          if (wait > 0) return reschedule(wait)
          if (due.isCatchingUp) await delay(catchUpIntervalMs, undefined, { signal })
        }
        if (performance.now() > latest) return reschedule(0)
      }
    } finally {
      channel?.close()
    }
  }

/** Returns the next delivery, stored before it is sent; `anew` if the endpoint's cursor has moved. */
async function putTogether(
  { db, keys, service, log }: ServiceJobRun,
  due: Due,
): Promise<Delivery | 'nothing' | 'anew'> {
  const following = { service, kinds: due.kinds, key: keys.cursors }
  const places = decodeCursor(following, due.cursor)
  const told = places && (await readChanges(db, service, places, { limit: maxChanges, records: false }))
  if (!told) {
    if (!(await pauseExpired(db, service, due))) return 'anew'
    log.error(
      { alert: 'webhook_expired', service: service.name, webhook: due.id },
      'webhook was down too long, webhook paused',
    )
    return 'nothing'
  }
  if (!told.changes.length) {
    await passOver(db, service, due, encodeCursor(following, told.positions), !told.hasMore)
    return told.hasMore ? 'anew' : 'nothing'
  }
  const delivery = buildDelivery(following, told)
  return (await keepDelivery(db, service, due, delivery)) ? delivery : 'anew'
}

/** Makes one attempt and records its result. Returns the seconds until the next attempt, or undefined if there is none. */
async function deliver(
  work: ServiceJobRun,
  channel: Channel,
  due: Due,
  delivery: Delivery,
): Promise<number | undefined> {
  const { db, service, signal, renewLease, log } = work
  failpoint('before_post')
  // A process that was halted for longer than its lease finds that another one has taken over.
  if (!(await renewLease())) return
  const timestamp = Math.floor(Date.now() / 1_000)
  const { id: deliveryId, body, changes } = delivery
  const { retryAfterSeconds, ...outcome } = await traced(
    'post webhook',
    'client',
    { 'tillbridge.changes': changes },
    () => postSigned(channel, due.secrets, { id: deliveryId, timestamp, body }, signal),
  )
  failpoint('after_post')
  const attempt = { ...outcome, deliveryId, changes }
  if (outcome.fault === null) {
    await retryUntilRecorded(() => markTaken(db, service, due, delivery, attempt))
    return 0
  }
  const waitSeconds = getRetryDelaySeconds(due.failures + 1, retryAfterSeconds)
  const isGone = outcome.status === 410
  await retryUntilRecorded(() => markFailed(db, service, due.id, delivery, attempt, { waitSeconds, isGone }))
  const about = { service: service.name, webhook: due.id, status: outcome.status, fault: outcome.fault }
  if (isGone) {
    log.warn(about, 'webhook delivery rejected, webhook paused')
    return
  }
  log.warn({ ...about, againInSeconds: waitSeconds }, 'webhook delivery failed, will retry')
  return waitSeconds
}
