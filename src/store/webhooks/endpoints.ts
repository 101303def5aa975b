import { randomUUID } from 'node:crypto'
import type { Keys } from '../../crypto/keys.ts'
import { type Database, type Db, sql } from '../../database/db.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { WebhookState } from '../../domain/webhooks/webhooks.ts'
import { raiseAlert, resolveAlert } from '../alerts/alerts.ts'
import { addJob } from '../jobs/jobs.ts'
import { type PageRequest, readPage, rfc3339 } from '../lists/page.ts'
import { deliverWebhookJob, failingAlert, scheduleDeliveriesJob } from './schedule.ts'
import { sealSecret } from './secrets.ts'

/** The record (`Webhook`) of a row of `webhook`. */
const record = sql`
  (select row_to_json(r)::text from (select
     webhook_id as id, url, kinds, description, state, state_reason as "stateReason", cursor,
     json_build_object('pendingSince', ${rfc3339(sql`pending_since`)}, 'seconds', coalesce(extract(epoch from now() - pending_since), 0)::integer) as lag,
     ${rfc3339(sql`last_success_at`)} as "lastSuccessAt", last_failure as "lastFailure", ${rfc3339(sql`created_at`)} as "createdAt") r)`

/** The webhooks of a service, by their identifiers. */
export const webhookPage = (db: Db, service: Service, asked: PageRequest) =>
  readPage(db, service, { table: sql`webhook`, record, key: sql`webhook_id`, live: true }, asked)

/** The record of one webhook, as JSON text. */
export const webhookRecord = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(
    sql`select ${record} as record from webhook where service_id = ${service.id} and webhook_id = ${id}`,
  )

/** What an endpoint is, and where it stands. */
export interface Endpoint {
  id: string
  url: string
  kinds: readonly Kind[]
  description: string | null
  state: WebhookState
  cursor: string
}

/** A webhook, which stays as it is until the transaction ends. */
export const heldWebhook = (tx: Db, service: Service, id: string) =>
  tx.row<Endpoint>(sql`
    select webhook_id as id, url, kinds, description, state, cursor from webhook
     where service_id = ${service.id} and webhook_id = ${id} for no key update`)

type Made = Pick<Endpoint, 'url' | 'kinds' | 'description' | 'cursor'>

/** Makes a webhook, which is looked after from now on. Returns its identifier. */
export async function addWebhook(tx: Db, keys: Keys, service: Service, secret: string, made: Made): Promise<string> {
  const id = randomUUID()
  const sealed = sealSecret(keys, service, id, secret)
  await tx.run(sql`
    insert into webhook (service_id, webhook_id, url, kinds, description, cursor, secret)
    values (${service.id}, ${id}, ${made.url}, ${JSON.stringify(made.kinds)}, ${made.description}, ${made.cursor}, ${sealed})`)
  await addJob(tx, null, scheduleDeliveriesJob)
  return id
}

/** Changes what an endpoint is. With another cursor what was under way is put together anew; another address is tried at once. */
export async function changeWebhook(tx: Db, service: Service, before: Endpoint, change: Partial<Endpoint>) {
  const { id, url, kinds, description, cursor } = { ...before, ...change }
  const isMoved = url !== before.url
  await tx.run(sql`
    update webhook set url = ${url}, kinds = ${JSON.stringify(kinds)}, description = ${description}, changed_at = now(), cursor = ${cursor},
      not_before = case when ${isMoved} then now() else not_before end, ${undelivered(sql`cursor is distinct from ${cursor}`)}
     where service_id = ${service.id} and webhook_id = ${id}`)
  if (isMoved) await addJob(tx, service.id, deliverWebhookJob, { subject: id })
}

/** What somebody was told of an endpoint is settled. */
async function resolveAlerts(tx: Db, service: Service, id: string) {
  for (const kind of [failingAlert, expiredAlert] as const) await resolveAlert(tx, service.id, { kind, subject: id })
}

export const removeWebhook = async (tx: Db, service: Service, id: string) => {
  await tx.run(
    sql`delete from job where service_id = ${service.id} and name = ${deliverWebhookJob} and subject = ${id}`,
  )
  await tx.run(sql`delete from webhook where service_id = ${service.id} and webhook_id = ${id}`)
  await resolveAlerts(tx, service, id)
}

export const pauseWebhook = (tx: Db, service: Service, id: string, reason: string) =>
  tx.run(sql`
    update webhook set state = 'paused', state_reason = ${reason}, changed_at = now()
     where service_id = ${service.id} and webhook_id = ${id}`)

/** The alert about an endpoint that was away for too long. */
const expiredAlert = 'webhook_expired'

/** Pauses an endpoint, with an alert, behind whose place something is forgotten; false where it stands elsewhere by now. */
export const pauseExpired = (db: Database, service: Service, { id, cursor }: Pick<Endpoint, 'id' | 'cursor'>) =>
  db.transaction(async tx => {
    const detail = 'What has left the data since its place is forgotten. Rewind it to the beginning, and resume it.'
    const paused = await tx.run(sql`
      update webhook set state = 'paused', state_reason = ${detail}, changed_at = now()
       where service_id = ${service.id} and webhook_id = ${id} and cursor = ${cursor}`)
    if (paused) await raiseAlert(tx, service.id, { kind: expiredAlert, subject: id, detail })
    return paused > 0
  })

/** Tries an endpoint again, at once, as if it had never failed. */
export async function resumeWebhook(tx: Db, service: Service, id: string) {
  await tx.run(sql`
    update webhook set state = 'active', state_reason = null, failures = 0, failing_since = null, not_before = now(), changed_at = now()
     where service_id = ${service.id} and webhook_id = ${id}`)
  await resolveAlerts(tx, service, id)
  await addJob(tx, service.id, deliverWebhookJob, { subject: id })
  await addJob(tx, null, scheduleDeliveriesJob)
}

/** Has an endpoint stand elsewhere. What was under way is given up: it is told from there. */
export async function rewindWebhook(tx: Db, service: Service, id: string, cursor: string) {
  await tx.run(sql`
    update webhook set cursor = ${cursor}, not_before = now(), changed_at = now(), ${undelivered(sql`true`)}
     where service_id = ${service.id} and webhook_id = ${id}`)
  await addJob(tx, service.id, deliverWebhookJob, { subject: id })
}

/** Hours for which the secret before a rotation signs too (contract 11). */
const formerHours = 24

/** Gives an endpoint another secret; the one before signs for a while yet. */
export const rotateSecret = (tx: Db, keys: Keys, service: Service, id: string, secret: string) =>
  tx.run(sql`
    update webhook set former_secret = secret, former_until = now() + ${formerHours} * interval '1 hour', changed_at = now(),
      secret = ${sealSecret(keys, service, id, secret)}
     where service_id = ${service.id} and webhook_id = ${id}`)

/** Takes away the delivery under way, where it is so. */
function undelivered(where: ReturnType<typeof sql>) {
  const columns = [sql`delivery_id`, sql`delivery_body`, sql`delivery_cursor`, sql`delivery_is_last`]
  return columns
    .map(column => sql`${column} = case when ${where} then null else ${column} end`)
    .reduce((all, each) => sql`${all}, ${each}`)
}
