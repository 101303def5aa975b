import { randomUUID } from 'node:crypto'
import type { Keys } from '../../crypto/keys.ts'
import { type Database, type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Webhook, WebhookState } from '../../domain/webhooks/webhooks.ts'
import { raiseAlert, resolveAlert } from '../alerts/alerts.ts'
import { addJob } from '../jobs/jobs.ts'
import { type PageRequest, readPage } from '../lists/page.ts'
import { deliverWebhookJob, failingAlert, scheduleDeliveriesJob } from './schedule.ts'
import { sealSecret } from './secrets.ts'

/** The record (`Webhook`) of a row of `webhook`. */
const record = sql`
  (select row_to_json(r)::text from (select
     webhook_id as id, url, kinds, description, state, state_reason as "stateReason", cursor,
     json_build_object('pendingSince', ${rfc3339(sql`pending_since`)}, 'seconds', coalesce(extract(epoch from now() - pending_since), 0)::integer) as lag,
     ${rfc3339(sql`last_success_at`)} as "lastSuccessAt", last_failure as "lastFailure", ${rfc3339(sql`created_at`)} as "createdAt") r)`

/** Reads a page of the webhooks of a service, by ID. */
export const readWebhookPage = (db: Db, service: Service, request: PageRequest) =>
  readPage(db, service, { table: sql`webhook`, record, key: sql`webhook_id`, live: true }, request)

/** Returns all webhooks of a service, by ID. */
export const readWebhookRecords = async (db: Db, service: Service) => {
  const rows = await db.rows<{ record: string }>(
    sql`select ${record} as record from webhook where service_id = ${service.id} order by webhook_id`,
  )
  return rows.map(row => JSON.parse(row.record) as Webhook)
}

/** Returns the record of one webhook as JSON text. */
export const findWebhookRecord = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(
    sql`select ${record} as record from webhook where service_id = ${service.id} and webhook_id = ${id}`,
  )

/** An endpoint and its cursor. */
export interface Endpoint {
  id: string
  url: string
  kinds: readonly Kind[]
  description: string | null
  state: WebhookState
  cursor: string
}

/** Reads a webhook and locks it until the transaction ends. */
export const lockWebhook = (tx: Db, service: Service, id: string) =>
  tx.row<Endpoint>(sql`
    select webhook_id as id, url, kinds, description, state, cursor from webhook
     where service_id = ${service.id} and webhook_id = ${id} for no key update`)

type NewWebhook = Pick<Endpoint, 'url' | 'kinds' | 'description' | 'cursor'>

/** Creates a webhook. Returns its ID. */
export async function addWebhook(
  tx: Db,
  keys: Keys,
  service: Service,
  secret: string,
  { url, kinds, description, cursor }: NewWebhook,
): Promise<string> {
  const id = randomUUID()
  const sealed = sealSecret(keys, service, id, secret)
  await tx.run(sql`
    insert into webhook (service_id, webhook_id, url, kinds, description, cursor, secret)
    values (${service.id}, ${id}, ${url}, ${JSON.stringify(kinds)}, ${description}, ${cursor}, ${sealed})`)
  await addJob(tx, null, scheduleDeliveriesJob)
  return id
}

/** Changes an endpoint. A new cursor discards the pending delivery. A new URL is tried at once. */
export async function changeWebhook(tx: Db, service: Service, before: Endpoint, change: Partial<Endpoint>) {
  const { id, url, kinds, description, cursor } = { ...before, ...change }
  const isMoved = url !== before.url
  await tx.run(sql`
    update webhook set url = ${url}, kinds = ${JSON.stringify(kinds)}, description = ${description}, changed_at = now(), cursor = ${cursor},
      not_before = case when ${isMoved} then now() else not_before end, ${discardDelivery(sql`cursor is distinct from ${cursor}`)}
     where service_id = ${service.id} and webhook_id = ${id}`)
  if (isMoved) await addJob(tx, service.id, deliverWebhookJob, { subject: id })
}

async function resolveAlerts(tx: Db, service: Service, id: string) {
  for (const kind of [failingAlert, expiredAlert] as const) await resolveAlert(tx, service.id, { kind, subject: id })
}

/** Deletes a webhook with its delivery job, and resolves its alerts. */
export const deleteWebhook = async (tx: Db, service: Service, id: string) => {
  await tx.run(
    sql`delete from job where service_id = ${service.id} and name = ${deliverWebhookJob} and subject = ${id}`,
  )
  await tx.run(sql`delete from webhook where service_id = ${service.id} and webhook_id = ${id}`)
  await resolveAlerts(tx, service, id)
}

/** Pauses a webhook. `reason` is shown with its state. */
export const pauseWebhook = (tx: Db, service: Service, id: string, reason: string) =>
  tx.run(sql`
    update webhook set state = 'paused', state_reason = ${reason}, changed_at = now()
     where service_id = ${service.id} and webhook_id = ${id}`)

/** The alert about an endpoint that was unavailable for too long. */
const expiredAlert = 'webhook_expired'

/** Pauses an endpoint whose cursor is older than the oldest tombstone, and raises an alert. Returns false if the cursor has moved. */
export const pauseExpired = (db: Database, service: Service, { id, cursor }: Pick<Endpoint, 'id' | 'cursor'>) =>
  db.transaction(async tx => {
    const detail =
      'Tombstones of records that were deleted after its cursor are no longer stored. Rewind the webhook to the beginning, then resume it.'
    const paused = await tx.run(sql`
      update webhook set state = 'paused', state_reason = ${detail}, changed_at = now()
       where service_id = ${service.id} and webhook_id = ${id} and cursor = ${cursor}`)
    if (paused) await raiseAlert(tx, service.id, { kind: expiredAlert, subject: id, detail })
    return paused > 0
  })

/** Resumes an endpoint and forgets its failures. The next attempt is made at once. */
export async function resumeWebhook(tx: Db, service: Service, id: string) {
  await tx.run(sql`
    update webhook set state = 'active', state_reason = null, failures = 0, failing_since = null, not_before = now(), changed_at = now()
     where service_id = ${service.id} and webhook_id = ${id}`)
  await resolveAlerts(tx, service, id)
  await addJob(tx, service.id, deliverWebhookJob, { subject: id })
  await addJob(tx, null, scheduleDeliveriesJob)
}

/** Sets the cursor of an endpoint and discards its pending delivery. */
export async function rewindWebhook(tx: Db, service: Service, id: string, cursor: string) {
  await tx.run(sql`
    update webhook set cursor = ${cursor}, not_before = now(), changed_at = now(), ${discardDelivery(sql`true`)}
     where service_id = ${service.id} and webhook_id = ${id}`)
  await addJob(tx, service.id, deliverWebhookJob, { subject: id })
}

/** Hours for which the previous secret also signs after a rotation. */
const previousSecretHours = 24

/** Replaces the secret of an endpoint. The previous one also signs for `previousSecretHours`. */
export const rotateSecret = (tx: Db, keys: Keys, service: Service, id: string, secret: string) =>
  tx.run(sql`
    update webhook set previous_secret = secret, previous_until = now() + ${previousSecretHours} * interval '1 hour', changed_at = now(),
      secret = ${sealSecret(keys, service, id, secret)}
     where service_id = ${service.id} and webhook_id = ${id}`)

/** Builds assignments that discard the pending delivery if the condition is true. */
function discardDelivery(condition: ReturnType<typeof sql>) {
  const columns = [sql`delivery_id`, sql`delivery_body`, sql`delivery_cursor`, sql`delivery_is_last`]
  return columns
    .map(column => sql`${column} = case when ${condition} then null else ${column} end`)
    .reduce((all, assignment) => sql`${all}, ${assignment}`)
}
