import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import { type AlertName, type AlertRecord, alertKinds } from '../../domain/alerts.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type PageRequest, readPage } from '../lists/page.ts'

/** A problem that needs attention. Neither `subject` nor `detail` contains a secret. */
export interface Alert {
  kind: AlertName
  /** The ID of the affected record. Empty if the problem affects the whole service. */
  subject: string
  detail: string
}

/** The job that sends an alert to the service's `alertEmail`. Its subject is the kind of the alert, a space and the alert's subject. */
const sendAlertJob = 'send-alert'

/**
 * Records an alert, and queues its email if the service has an `alertEmail`. If the alert exists already, counts the occurrence and updates
 * the detail. One statement, so that the alert and its email are committed together also outside a transaction.
 */
export const raiseAlert = (db: Db, serviceId: number, { kind, subject, detail }: Alert) =>
  db.run(sql`
    with raised as (
      insert into alert as a (service_id, kind, subject, detail) values (${serviceId}, ${kind}, ${subject}, ${detail})
      on conflict (service_id, kind, subject) do update set detail = excluded.detail, times = a.times + 1, changed_at = now()
      returning service_id, kind || ' ' || subject as job_subject, times)
    insert into job (service_id, name, subject)
    select service_id, ${sendAlertJob}, job_subject from raised join service using (service_id)
     where times = 1 and settings->>'alertEmail' is not null
    on conflict do nothing`)

/** Returns an unresolved alert and the time it was last raised. */
export const readAlert = (db: Db, serviceId: number, { kind, subject }: { kind: string; subject: string }) =>
  db.row<Alert & { raisedAt: Date }>(sql`
    select kind, subject, detail, changed_at as "raisedAt" from alert
     where service_id = ${serviceId} and kind = ${kind} and subject = ${subject}`)

/** Renders a row of `alert` as its JSON record (schema `Alert`). */
const renderAlert = (service: Service) => sql`
  (select row_to_json(r)::text from (select
     alert_id as id, kind, subject, coalesce(replace(entry->>'title', '{subject}', subject), '') as title, detail, coalesce(replace(replace(entry->>'remedy', '{service}', ${service.name}), '{subject}', subject), '') as "remedy",
     replace(entry->>'path', '{subject}', subject) as path, coalesce((entry->>'autoResolves')::boolean, false) as "autoResolves", times,
     ${rfc3339(sql`begun_at`)} as since, ${rfc3339(sql`alert.changed_at`)} as "lastAt"
     from (select ${JSON.stringify(alertKinds)}::json->kind as entry) kinds) r)`

/** Reads a page of a service's unresolved alerts, newest first. Bulk exports begin with the oldest. */
export const readAlertPage = (db: Db, service: Service, request: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`alert`,
      record: renderAlert(service),
      order: { column: sql`begun_at`, type: 'timestamptz' },
      key: sql`alert_id`,
      live: true,
      descending: !request.asLines,
    },
    request,
  )

/** Returns the newest 100 unresolved alerts of a service. */
export const readAlertRecords = async (db: Db, service: Service) => {
  const rows = await db.rows<{ record: string }>(sql`
    select ${renderAlert(service)} as record from alert where service_id = ${service.id} order by begun_at desc limit 100`)
  return rows.map(({ record }) => JSON.parse(record) as AlertRecord)
}

/** Deletes an alert and returns its last record. Returns undefined if there is no such alert. */
export const resolveAlertById = (tx: Db, service: Service, id: string) =>
  tx.row<{ record: string }>(
    sql`delete from alert where service_id = ${service.id} and alert_id = ${id} returning ${renderAlert(service)} as record`,
  )

/** Deletes an alert because its cause is fixed. */
export const resolveAlert = (db: Db, serviceId: number, { kind, subject }: Pick<Alert, 'kind' | 'subject'>) =>
  db.run(sql`delete from alert where service_id = ${serviceId} and kind = ${kind} and subject = ${subject}`)

/** Deletes all alerts of a kind. Returns their number. */
export const resolveAlertsOfKind = (db: Db, serviceId: number, kind: string) =>
  db.run(sql`delete from alert where service_id = ${serviceId} and kind = ${kind}`)

/** Deletes alerts that last occurred more than 90 days ago. */
export const purgeAlerts = (db: Db) => db.run(sql`delete from alert where changed_at < now() - interval '90 days'`)

/** Returns the newest 50 unresolved alerts of all services. */
export const listAlerts = (db: Db) =>
  db.rows<Alert & { service: string; times: number; raisedAt: Date }>(sql`
    select name as service, kind, subject, detail, times, changed_at as "raisedAt" from alert join service using (service_id)
     order by changed_at desc limit 50`)
