import { type Db, sql } from '../../database/db.ts'
import { type AlertName, alertKinds } from '../../domain/alerts.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type PageRequest, readPage, rfc3339 } from '../lists/page.ts'

/** Something that somebody has to look at. Neither subject nor detail holds a secret. */
export interface Alert {
  /** What has happened, in a word that does not change. */
  kind: AlertName
  /** What it has happened to, by its identifier. */
  subject: string
  detail: string
}

/** Records an alert; one about the same counts up. */
export const raiseAlert = (db: Db, serviceId: number, { kind, subject, detail }: Alert) =>
  db.run(sql`
    insert into alert as a (service_id, kind, subject, detail) values (${serviceId}, ${kind}, ${subject}, ${detail})
    on conflict (service_id, kind, subject) do update set detail = excluded.detail, times = a.times + 1, changed_at = now()`)

/** An alert that is not settled, and when it was last raised. */
export const readAlert = (db: Db, serviceId: number, { kind, subject }: { kind: string; subject: string }) =>
  db.row<Alert & { raisedAt: Date }>(sql`
    select kind, subject, detail, changed_at as "raisedAt" from alert
     where service_id = ${serviceId} and kind = ${kind} and subject = ${subject}`)

/** The record (`Alert`) of a row of `alert`. */
const recordOf = (service: Service) => sql`
  (select row_to_json(r)::text from (select
     alert_id as id, kind, subject, coalesce(told->>'title', '') as title, detail, coalesce(replace(replace(told->>'wayOut', '{service}', ${service.name}), '{subject}', subject), '') as "wayOut",
     replace(told->>'path', '{subject}', subject) as path, coalesce((told->>'settlesItself')::boolean, false) as "settlesItself", times,
     ${rfc3339(sql`begun_at`)} as since, ${rfc3339(sql`alert.changed_at`)} as "lastAt"
     from (select ${JSON.stringify(alertKinds)}::json->kind as told) kinds) r)`

/** The alerts of a service that are not settled, the newest first; as lines the oldest. */
export const alertPage = (db: Db, service: Service, asked: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`alert`,
      record: recordOf(service),
      order: { column: sql`begun_at`, type: 'timestamptz' },
      key: sql`alert_id`,
      live: true,
      descending: !asked.asLines,
    },
    asked,
  )

/** Settles one alert; its record as it was, undefined where there is none. */
export const settleOne = (tx: Db, service: Service, id: string) =>
  tx.row<{ record: string }>(
    sql`delete from alert where service_id = ${service.id} and alert_id = ${id} returning ${recordOf(service)} as record`,
  )

/** What it was about is settled. */
export const settleAlert = (db: Db, serviceId: number, { kind, subject }: Pick<Alert, 'kind' | 'subject'>) =>
  db.run(sql`delete from alert where service_id = ${serviceId} and kind = ${kind} and subject = ${subject}`)

/** Somebody has looked at all alerts of a kind. Returns how many there were. */
export const settleKind = (db: Db, serviceId: number, kind: string) =>
  db.run(sql`delete from alert where service_id = ${serviceId} and kind = ${kind}`)

/** Nobody has looked at it for a quarter of a year. */
export const forgetAlerts = (db: Db) => db.run(sql`delete from alert where changed_at < now() - interval '90 days'`)

/** The newest alerts that are not settled, of all services. */
export const listAlerts = (db: Db) =>
  db.rows<Alert & { service: string; times: number; raisedAt: Date }>(sql`
    select name as service, kind, subject, detail, times, changed_at as "raisedAt" from alert join service using (service_id)
     order by changed_at desc limit 50`)
