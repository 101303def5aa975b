import { type Db, type Sql, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { byChangeTimestamp, type PageRequest, readPage } from '../lists/page.ts'

/** The result of one attempt at a delivery. */
export interface Attempt {
  deliveryId: string
  changes: number
  status: number | null
  error: string | null
  response: string
  milliseconds: number
}

/** Inserts an attempt, unless its webhook was deleted. Returns its record. */
export const insertAttempt = (service: Service, webhookId: string, attempt: Attempt): Sql => sql`
  insert into webhook_attempt (service_id, webhook_id, delivery_id, changes, status, fault, response, milliseconds)
  select service_id, webhook_id, ${attempt.deliveryId}, ${attempt.changes}::integer, ${attempt.status}::integer, ${attempt.error}::text,
         ${attempt.response}::text, ${attempt.milliseconds}::integer
    from webhook where service_id = ${service.id} and webhook_id = ${webhookId}
  returning ${record} as record`

/** The record (`WebhookAttempt`) of a row of `webhook_attempt`. */
const record = sql`
  (select row_to_json(r)::text from (select
     webhook_attempt.attempt_id as id, webhook_attempt.delivery_id as "deliveryId",
     ${rfc3339(sql`webhook_attempt.changed_at`)} as at, webhook_attempt.changes,
     webhook_attempt.status, webhook_attempt.fault as detail, webhook_attempt.response as response, webhook_attempt.milliseconds) r)`

export const addAttempt = (db: Db, service: Service, webhookId: string, attempt: Attempt) =>
  db.row<{ record: string }>(insertAttempt(service, webhookId, attempt))

/** Attempts at the deliveries of one webhook, the newest first; as lines the oldest. */
export const readAttemptPage = (db: Db, service: Service, webhookId: string, request: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`webhook_attempt`,
      record,
      order: byChangeTimestamp,
      key: sql`attempt_id`,
      live: true,
      descending: !request.asLines,
      where: sql`and webhook_id = ${webhookId}`,
    },
    request,
  )

/** Days that attempts are kept. */
const retentionDays = 30

/** Returns how many were forgotten. */
export const purgeAttempts = (db: Db) =>
  db.run(sql`
    delete from webhook_attempt a using service s
     where a.service_id = s.service_id and a.changed_at < now() - ${retentionDays} * interval '1 day'`)
