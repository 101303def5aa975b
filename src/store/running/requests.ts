import { type Db, type Sql, sql } from '../../db.ts'
import { defaultSettings, type Service } from '../../settings.ts'
import { byChange, filter, type PageRequest, readPage } from '../lists/page.ts'
import { rfc3339 } from '../lists/rfc3339.ts'

/** A request that was answered, as it is logged. */
export interface Logged {
  serviceId: number
  /** RFC 3339. */
  at: string
  /** Of this line alone; of one process they grow. */
  lineId: string
  requestId: string
  username: string
  operation: string
  path: string
  subject: string
  status: number
  code: string | undefined
  /** Of the Idempotency-Key, in hexadecimal. */
  keyHash: string | undefined
  milliseconds: number
  statements: number
  databaseMs: number
  /** JSON text. */
  steps: string | undefined
}

/** Makes the partition of a day, unless it is there. */
export const openDay = (db: Db, day: string) => db.run(sql`select request_log_day(${day}::date)`)

/**
 * Writes lines of days whose partitions are there, and counts them by their minutes: in one order, so that no two processes wait for each other. None of a
 * service that is being removed, which waits for those under way.
 */
export function keepRequests(db: Db, lines: readonly Logged[]) {
  const each = <T extends string | number>(value: (line: Logged) => T | undefined) => arrayText(lines.map(value))
  const minutes = [...Map.groupBy(lines, ({ serviceId, at }) => `${serviceId} ${at.slice(0, 16)}:00Z`)]
  const ofMinutes = (value: (own: readonly Logged[], key: string) => string | number) =>
    arrayText(minutes.map(([key, own]) => value(own, key)))
  const answered = (least: number, most: number) =>
    ofMinutes(own => own.filter(({ status }) => status >= least && status <= most).length)
  return db.run(sql`
    with held as materialized (
      select service_id from service where service_id = any(${[...new Set(lines.map(({ serviceId }) => serviceId))]}::integer[]) and ending is null
       order by service_id for key share),
    logged as (
      insert into request_log (service_id, changed_at, line_id, request_id, username, operation, path, subject, status, code, key_hash,
                               milliseconds, statements, database_ms, steps)
      select l.* from unnest(
          ${each(line => line.serviceId)}::integer[], ${each(line => line.at)}::timestamptz[], ${each(line => line.lineId)}::text[],
          ${each(line => line.requestId)}::text[], ${each(line => line.username)}::text[], ${each(line => line.operation)}::text[],
          ${each(line => line.path)}::text[], ${each(line => line.subject)}::text[], ${each(line => line.status)}::smallint[],
          ${each(line => line.code)}::text[], ${each(line => line.keyHash && `\\x${line.keyHash}`)}::bytea[],
          ${each(line => line.milliseconds)}::real[], ${each(line => line.statements)}::integer[],
          ${each(line => line.databaseMs)}::real[], ${each(line => line.steps)}::text[]) as l (service_id)
       where l.service_id in (select service_id from held))
    insert into request_minute as m (service_id, minute, answered, refused, failed)
    select l.* from unnest(
        ${ofMinutes((_, key) => Number(key.split(' ', 1)[0]))}::integer[], ${ofMinutes((_, key) => key.split(' ', 2)[1] ?? '')}::timestamptz[],
        ${ofMinutes(own => own.length)}::integer[], ${answered(400, 499)}::integer[], ${answered(500, 599)}::integer[]) as l (service_id, minute)
     where l.service_id in (select service_id from held)
     order by 1, 2
    on conflict (service_id, minute) do update
      set (answered, refused, failed) = (m.answered + excluded.answered, m.refused + excluded.refused, m.failed + excluded.failed)`)
}

/** An array as PostgreSQL reads it from text. What `pg` makes of an array takes three times as long, of thousands of lines a second. */
const arrayText = (values: readonly (string | number | undefined)[]) =>
  `{${values.map(value => (typeof value === 'string' ? quoted(value) : (value ?? 'NULL'))).join()}}`

const quoted = (text: string) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`

/** What requests are searched by. */
interface Search {
  request_id?: string | undefined
  operation?: string | undefined
  path?: string | undefined
  record?: string | undefined
  status?: number | undefined
  failed?: boolean | undefined
  code?: string | undefined
  account?: string | undefined
  answered_after?: string | undefined
  answered_before?: string | undefined
}

const at = sql`to_char(changed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The fields (`RequestLine`) of a row of `request_log`. */
const fields = sql`
  request_id as id, ${at} as at, operation, path, status, code, username as account, subject as record, round(milliseconds::numeric, 1) as milliseconds,
  key_hash is not null as keyed`

const keptBy = ({ settings }: Service): Sql =>
  sql`and changed_at > now() - ${settings.requestsKeptDays} * interval '1 day'`

/** Requests that were answered, the newest first. `keyHash`: of the Idempotency-Key that they came with. */
export const requestPage = (
  db: Db,
  service: Service,
  search: Search,
  keyHash: Buffer | undefined,
  asked: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: sql`request_log`,
      record: sql`(select row_to_json(r)::text from (select ${fields}) r)`,
      order: byChange,
      key: sql`line_id`,
      live: true,
      descending: !asked.lines,
      planned: true,
      where: sql`${keptBy(service)}
        ${filter(search.request_id, id => sql`and request_id = ${id}`)}
        ${filter(keyHash, hash => sql`and key_hash = ${hash}`)}
        ${filter(search.operation, operation => sql`and operation = ${operation}`)}
        ${filter(search.path, path => sql`and path = ${path}`)}
        ${filter(search.record, record => sql`and subject = ${record}`)}
        ${filter(search.status, status => sql`and status = ${status}::smallint`)}
        ${filter(search.failed, failed => (failed ? sql`and status >= 400` : sql`and status < 400`))}
        ${filter(search.code, code => sql`and code = ${code}`)}
        ${filter(search.account, account => sql`and username = ${account}`)}
        ${filter(search.answered_after, moment => sql`and changed_at > ${moment}::timestamptz`)}
        ${filter(search.answered_before, moment => sql`and changed_at < ${moment}::timestamptz`)}`,
    },
    asked,
  )

/**
 * The newest request with an identifier (`RequestDetails`): what it took time for, and what it left behind: lines of the audit, e-mails of the
 * voucher that it was about, and of each webhook the first attempt after it.
 */
export const requestRecord = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(
    sql`
    with found as (
      select * from request_log
       where service_id = ${service.id} and request_id = ${id} ${keptBy(service)} order by changed_at desc, line_id desc limit 1),
    written as (
      select a.changed_at, a.record from audit a, found
       where a.service_id = ${service.id} and a.changed_at between found.changed_at - interval '5 minutes' and found.changed_at + interval '1 second'
         and a.record::json->>'requestId' = ${id} order by a.changed_at)
    select (select row_to_json(r)::text from (select ${fields}, statements, round(database_ms::numeric, 1) as "databaseMilliseconds",
              coalesce(steps, '[]')::json as steps,
              (select coalesce(json_agg(record::json), '[]') from written) as audit,
              (select coalesce(json_agg(json_build_object('id', mail_id, 'status', m.status, 'attempts', attempts,
                                                          'sentAt', ${rfc3339(sql`sent_at`)}) order by mail_id), '[]')
                 from mail m where m.service_id = ${service.id} and voucher_number = substring(subject from '^/vouchers/([^/]+)')
                  and m.created_at between found.changed_at - interval '5 minutes' and found.changed_at + interval '1 second') as mails,
              (select coalesce(json_agg(json_build_object('webhookId', w.webhook_id, 'deliveryId', first.delivery_id, 'status', first.status,
                                                          'detail', first.fault, 'milliseconds', first.milliseconds,
                                                          'at', ${rfc3339(sql`first.changed_at`)}) order by w.webhook_id), '[]')
                 from webhook w cross join lateral (
                   select * from webhook_attempt t
                    where t.service_id = ${service.id} and t.webhook_id = w.webhook_id and t.changes > 0
                      and t.changed_at > (select min(changed_at) from written) order by t.changed_at limit 1) first
                where w.service_id = ${service.id}) as deliveries) r) as record
      from found`,
    { planned: true },
  )

const linesAtOnce = 10_000

/**
 * Forgets what is older than services keep it: days that no service of this database keeps as partitions, the rest of those that are given
 * line by line. Returns how many days were dropped.
 */
export async function forgetRequests(db: Db, services: readonly Service[], isOver: () => boolean): Promise<number> {
  const most = await daysKept(db)
  const row = await db.row<{ dropped: number }>(sql`select forget_request_log(${most + 1}) as dropped`)
  await db.run(sql`delete from request_minute where minute < now() - interval '2 days'`)
  for (const service of services)
    if (service.settings.requestsKeptDays < most)
      while (!isOver() && (await forgetPortion(db, service)) >= linesAtOnce);
  return row?.dropped ?? 0
}

/** For how many days the log is kept for whoever keeps it longest: one that is shut may be opened again, and one that moves takes it along. */
async function daysKept(db: Db): Promise<number> {
  const row = await db.row<{ days: number | null }>(sql`
    select max(coalesce((settings->>'requestsKeptDays')::integer, ${defaultSettings.requestsKeptDays})) as days from service`)
  return row?.days ?? 0
}

/** Deletes the oldest lines of a service that it no longer keeps; returns how many. */
function forgetPortion(db: Db, { id, settings }: Service) {
  const old = sql`service_id = ${id} and changed_at < now() - ${settings.requestsKeptDays} * interval '1 day'`
  return db.run(sql`
    delete from request_log
     where ${old} and changed_at <= coalesce((select changed_at from request_log where ${old} order by changed_at offset ${linesAtOnce - 1} limit 1), now())`)
}
