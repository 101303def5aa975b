import { type Db, sql } from '../../db.ts'

/** Something that somebody has to look at. Neither subject nor detail holds a secret. */
export interface Alert {
  /** What has happened, in a word that does not change: `mail_failed`. */
  kind: string
  /** What it has happened to, by its identifier. */
  subject: string
  detail: string
}

/** Records an alert; one about the same counts up. */
export const raiseAlert = (db: Db, serviceId: number, { kind, subject, detail }: Alert) =>
  db.run(sql`
    insert into alert as a (service_id, kind, subject, detail) values (${serviceId}, ${kind}, ${subject}, ${detail})
    on conflict (service_id, kind, subject) do update set detail = excluded.detail, times = a.times + 1, raised_at = now()`)

/** An alert that is not settled, and when it was last raised. */
export const readAlert = (db: Db, serviceId: number, { kind, subject }: Pick<Alert, 'kind' | 'subject'>) =>
  db.row<Alert & { raisedAt: Date }>(sql`
    select kind, subject, detail, raised_at as "raisedAt" from alert
     where service_id = ${serviceId} and kind = ${kind} and subject = ${subject}`)

/** What it was about is settled. */
export const settleAlert = (db: Db, serviceId: number, { kind, subject }: Pick<Alert, 'kind' | 'subject'>) =>
  db.run(sql`delete from alert where service_id = ${serviceId} and kind = ${kind} and subject = ${subject}`)

/** Somebody has looked at all alerts of a kind. Returns how many there were. */
export const settleKind = (db: Db, serviceId: number, kind: string) =>
  db.run(sql`delete from alert where service_id = ${serviceId} and kind = ${kind}`)

/** Nobody has looked at it for a quarter of a year. */
export const forgetAlerts = (db: Db) => db.run(sql`delete from alert where raised_at < now() - interval '90 days'`)

/** The newest alerts that are not settled, of all services. */
export const listAlerts = (db: Db) =>
  db.rows<Alert & { service: string; times: number; raisedAt: Date }>(sql`
    select name as service, kind, subject, detail, times, raised_at as "raisedAt" from alert join service using (service_id)
     order by raised_at desc limit 50`)
