import { type Db, type Sql, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { RangeName } from '../../domain/time-ranges.ts'
import { byChangeTimestamp, type PageRequest, readPage } from '../lists/page.ts'
import { getInterval, getRangeStart, listIntervals } from '../stats/range.ts'

/** The result of one attempt at a delivery. */
export interface Attempt {
  deliveryId: string
  changes: number
  status: number | null
  error: string | null
  response: string
  milliseconds: number
  /** The sent body. Empty if nothing was sent. */
  body: string
  /** The sent headers of Standard Webhooks. Null if nothing was sent. */
  headers: Readonly<Record<string, string>> | null
}

/** Inserts an attempt, unless its webhook was deleted. Returns its record. */
export const insertAttempt = (service: Service, webhookId: string, attempt: Attempt): Sql => sql`
  insert into webhook_attempt (service_id, webhook_id, delivery_id, changes, status, fault, response, milliseconds, headers)
  select service_id, webhook_id, ${attempt.deliveryId}, ${attempt.changes}::integer, ${attempt.status}::integer, ${attempt.error}::text,
         ${attempt.response}::text, ${attempt.milliseconds}::integer, ${attempt.headers && JSON.stringify(attempt.headers)}::json
    from webhook where service_id = ${service.id} and webhook_id = ${webhookId}
  returning ${record} as record`

/** Stores the body of a delivery, unless it is stored already or its webhook was deleted. */
export const insertPayload = (service: Service, webhookId: string, { deliveryId, body }: Attempt): Sql => sql`
  insert into webhook_payload (service_id, webhook_id, delivery_id, body)
  select service_id, webhook_id, ${deliveryId}, ${body}::text
    from webhook where service_id = ${service.id} and webhook_id = ${webhookId} and ${body}::text <> ''
  on conflict do nothing`

/** The record (`WebhookAttempt`) of a row of `webhook_attempt`. */
const record = sql`
  (select row_to_json(r)::text from (select
     webhook_attempt.attempt_id as id, webhook_attempt.delivery_id as "deliveryId",
     ${rfc3339(sql`webhook_attempt.changed_at`)} as at, webhook_attempt.changes,
     webhook_attempt.status, webhook_attempt.fault as detail, webhook_attempt.response as response, webhook_attempt.milliseconds) r)`

/** Stores an attempt that was made on request, such as a test. Returns its record, or undefined if the webhook was deleted. */
export const addAttempt = (db: Db, service: Service, webhookId: string, attempt: Attempt) =>
  db.row<{ record: string }>(sql`
    with payload as (${insertPayload(service, webhookId, attempt)})
    ${insertAttempt(service, webhookId, attempt)}`)

/** An attempt with the headers and the body that were sent. */
interface AttemptDetails {
  /** The record (`WebhookAttempt`) as JSON. */
  record: string
  deliveryId: string
  changes: number
  headers: Record<string, string> | null
  /** Null if the body is no longer stored. */
  body: string | null
}

/** Returns an attempt of a webhook, or undefined if it doesn't exist. */
export const findAttempt = (db: Db, service: Service, webhookId: string, id: string) =>
  db.row<AttemptDetails>(sql`
    select ${record} as record, webhook_attempt.delivery_id as "deliveryId", changes, headers, body
      from webhook_attempt
      left join webhook_payload p
        on (p.service_id, p.webhook_id, p.delivery_id) = (webhook_attempt.service_id, webhook_attempt.webhook_id, webhook_attempt.delivery_id)
     where webhook_attempt.service_id = ${service.id} and webhook_attempt.webhook_id = ${webhookId} and attempt_id = ${id}`)

/** Deliveries of an interval. */
interface AttemptInterval {
  /** The start, RFC 3339. */
  at: string
  delivered: number
  failed: number
  /** The 95th percentile of the durations. Null without attempts. */
  p95: number | null
}

/** Counts the attempts of a webhook in each interval of a range. */
export const readAttemptIntervals = (db: Db, service: Service, webhookId: string, range: RangeName) =>
  db.rows<AttemptInterval>(sql`
    select ${rfc3339(sql`i.start`)} as at, count(*) filter (where attempt_id is not null and fault is null)::integer as delivered,
           count(fault)::integer as failed, percentile_disc(0.95) within group (order by milliseconds) as p95
      from ${listIntervals(range)} as i(start)
      left join webhook_attempt a on a.service_id = ${service.id} and a.webhook_id = ${webhookId}
       and a.changed_at >= i.start and a.changed_at < i.start + ${getInterval(range)} and a.changes > 0
     group by 1 order by 1`)

/** The deliveries of a webhook in a range. */
interface DeliverySummary {
  id: string
  delivered: number
  failed: number
  /** When the next attempt is due. RFC 3339. Null if none is pending. */
  nextAttemptAt: string | null
  failures: number
}

/** Returns the next attempt of webhooks, and counts their attempts since the start of a range. */
const selectSummaries = (service: Service, range: RangeName, condition: Sql) => sql`
  select webhook_id as id, coalesce(a.delivered, 0)::integer as delivered, coalesce(a.failed, 0)::integer as failed, failures,
         case when state <> 'paused' and pending_since is not null then ${rfc3339(sql`greatest(not_before, now())`)} end as "nextAttemptAt"
    from webhook w
    left join (select webhook_id, count(*) filter (where fault is null) as delivered, count(fault) as failed
                 from webhook_attempt
                where service_id = ${service.id} and changed_at >= ${getRangeStart(range)} and changes > 0 ${condition}
                group by 1) a using (webhook_id)
   where w.service_id = ${service.id} ${condition} order by 1`

/** Returns the summary of each webhook of a service, by ID. */
export const readDeliverySummaries = (db: Db, service: Service, range: RangeName) =>
  db.rows<DeliverySummary>(selectSummaries(service, range, sql``))

/** Returns the summary of one webhook. */
export const readDeliverySummary = (db: Db, service: Service, range: RangeName, id: string) =>
  db.row<DeliverySummary>(selectSummaries(service, range, sql`and webhook_id = ${id}`))

/** Reads a page of the attempts at the deliveries of one webhook, newest first. A bulk export begins with the oldest. */
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

/** Days for which attempts are stored. */
const retentionDays = 30

/** Deletes old attempts. Returns their number. */
export const purgeAttempts = (db: Db) =>
  db.run(sql`
    delete from webhook_attempt a using service s
     where a.service_id = s.service_id and a.changed_at < now() - ${retentionDays} * interval '1 day'`)

/** Days for which payloads are stored. */
const payloadRetentionDays = 3

/** Deletes old payloads. Returns their number. */
export const purgePayloads = (db: Db) =>
  db.run(sql`
    delete from webhook_payload p using service s
     where p.service_id = s.service_id and p.created_at < now() - ${payloadRetentionDays} * interval '1 day'`)
