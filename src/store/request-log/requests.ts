import { type Db, type Sql, sql } from '../../database/db.ts'
import { rfc3339, rfc3339Micros } from '../../database/rfc3339.ts'
import { defaultSettings, type Service } from '../../domain/tenancy/service-settings.ts'
import { resolveAsOf } from '../lists/as-of.ts'
import {
  filter,
  type Page,
  type PageEnd,
  type PageRequest,
  type PageRow,
  recordSeparator,
  toPage,
} from '../lists/page.ts'
import { materialized, opaqueParam } from '../lists/planner-fences.ts'
import { mayHave, mayHaveFailed } from './blocks.ts'

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
  /** True to leave out requests of the console. */
  excludesConsole?: boolean | undefined
}

const at = sql`to_char(changed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The fields (`RequestLine`) of a row of `request_log`. */
const fields = sql`
  request_id as id, ${at} as at, operation, path, status, code, username as account, subject as record, milliseconds, key_hash is not null as "hasIdempotencyKey"`

const isRetained = ({ settings }: Service): Sql =>
  sql`and second > now() - ${settings.requestLogRetentionDays} * interval '1 day'`

/**
 * SQL for a condition on entries. The planner estimates the `case` as true half of the time. If it expected few entries, it would read and
 * sort all of them instead of reading the newest ones until the page is full.
 */
const fencedCondition = (condition: Sql) => sql`and case when ${condition} then true else false end`

/** SQL condition: entries with this value, filtered by the marks of their block and by their text first. */
const hasValue = (value: string | number, condition: Sql) =>
  sql`and ${mayHave(String(value))} ${fencedCondition(sql`strpos(line, ${JSON.stringify(value)}) > 0`)} ${fencedCondition(condition)}`

/** Builds the conditions of a search. `key_hash`: hash of the Idempotency-Key. */
const buildConditions = (search: Search & { key_hash?: string | undefined }) => sql`
  ${filter(search.request_id, id => hasValue(id, sql`request_id = ${id}`))}
  ${filter(search.key_hash, hash => hasValue(hash, sql`key_hash = ${hash}`))}
  ${filter(search.operation, operation => hasValue(operation, sql`operation = ${operation}`))}
  ${filter(search.path, path => hasValue(path, sql`path = ${path}`))}
  ${filter(search.record, record => hasValue(record, sql`subject = ${record}`))}
  ${filter(search.status, status => hasValue(status, sql`status = ${status}::smallint`))}
  ${filter(search.failed, failed => (failed ? sql`and ${mayHaveFailed} ${fencedCondition(sql`status >= 400`)}` : fencedCondition(sql`status < 400`)))}
  ${filter(search.code, code => hasValue(code, sql`code = ${code}`))}
  ${filter(search.excludesConsole || undefined, () => fencedCondition(sql`not is_console`))}
  ${filter(search.account, account => hasValue(account, sql`username = ${account}`))}
  ${filter(search.answered_after, instant => sql`and second >= date_trunc('second', ${instant}::timestamptz) ${fencedCondition(sql`changed_at > ${instant}::timestamptz`)}`)}
  ${filter(search.answered_before, instant => sql`and second < ${instant}::timestamptz ${fencedCondition(sql`changed_at < ${instant}::timestamptz`)}`)}`

/**
 * Reads a page of requests, the newest first. Scans blocks by their seconds and sorts the entries of each second. Reads one more entry than
 * the limit, to set `hasNextPage` without a second scan.
 */
export async function readRequestPage(
  db: Db,
  service: Service,
  search: Search,
  keyHash: string | undefined,
  { limit, after, asLines: lines, ...fixed }: PageRequest,
): Promise<Page> {
  const { asOf } = await resolveAsOf(
    db,
    service,
    sql`(select service_id, second as changed_at from request_block) b`,
    fixed,
  )
  const order = lines ? sql`order by second, line_id` : sql`order by second desc, line_id desc`
  const reads = await db.rows<PageRow>(
    sql`
      with page as ${materialized(sql`select ${asOf} as as_of`)},
      entry as ${materialized(sql`
        select (select row_to_json(r)::text from (select ${fields}) r) as record, second, line_id
          from request_log
         where service_id = ${service.id} ${isRetained(service)} ${after ? isAfter(after, lines) : sql``} ${buildConditions({ ...search, key_hash: keyHash })}
         ${order} limit ${limit + 1}`)},
      placed as (select *, row_number() over (${order}) as place from entry),
      listed as (
        select string_agg(record, ${recordSeparator(lines)} order by place) as records, (array_agg(second order by place desc))[1]::text as last_order,
               (array_agg(line_id order by place desc))[1] as last_key, (place - 1) / 100 as piece
          from placed where place <= ${limit} group by piece)
      select records, last_order, last_key, ${rfc3339Micros(sql`as_of`)} as as_of, (select count(*) from entry) > ${limit} as more
        from page left join listed on true order by piece`,
    { customPlan: true },
  )
  return toPage(reads, undefined)
}

/** SQL condition: entries after the end of the previous page. */
const isAfter = ([second, id]: PageEnd, ascending = false) =>
  ascending
    ? sql`and second >= ${opaqueParam(second, 'timestamptz')} ${fencedCondition(sql`(second, line_id) > (${second}::timestamptz, ${id})`)}`
    : sql`and second <= ${opaqueParam(second, 'timestamptz')} ${fencedCondition(sql`(second, line_id) < (${second}::timestamptz, ${id})`)}`

/**
 * Returns the newest request with an ID (`RequestDetails`): its steps, its audit entries and the emails of its voucher. Also returns the
 * first delivery attempt of each webhook after it.
 */
export const findRequestRecord = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(
    sql`
    with entry as (
      select * from request_log
       where service_id = ${service.id} ${isRetained(service)} ${buildConditions({ request_id: id })} order by second desc, line_id desc limit 1),
    written as (
      select a.changed_at, a.record from audit a, entry
       where a.service_id = ${service.id} and a.changed_at between entry.changed_at - interval '5 minutes' and entry.changed_at + interval '1 second'
         and a.record::json->>'requestId' = ${id} order by a.changed_at)
    select (select row_to_json(r)::text from (select ${fields}, statements, database_ms as "databaseMilliseconds", steps,
              (select coalesce(json_agg(record::json), '[]') from written) as audit,
              (select coalesce(json_agg(json_build_object('id', email_id, 'status', m.status, 'attempts', attempts,
                                                          'sentAt', ${rfc3339(sql`sent_at`)}) order by email_id), '[]')
                 from email m where m.service_id = ${service.id} and voucher_number = substring(subject from '^/vouchers/([^/]+)')
                  and m.created_at between entry.changed_at - interval '5 minutes' and entry.changed_at + interval '1 second') as emails,
              (select coalesce(json_agg(json_build_object('webhookId', w.webhook_id, 'deliveryId', first.delivery_id, 'status', first.status,
                                                          'detail', first.fault, 'milliseconds', first.milliseconds,
                                                          'at', ${rfc3339(sql`first.changed_at`)}) order by w.webhook_id), '[]')
                 from webhook w cross join lateral (
                   select * from webhook_attempt t
                    where t.service_id = ${service.id} and t.webhook_id = w.webhook_id and t.changes > 0
                      and t.changed_at > (select min(changed_at) from written) order by t.changed_at limit 1) first
                where w.service_id = ${service.id}) as deliveries) r) as record
      from entry`,
    { customPlan: true },
  )

/** Errors with the same code and field. */
interface ErrorGroup {
  /** The code, or the status if there was none. */
  code: string
  status: number
  field: string | null
  times: number
  /** RFC 3339. */
  latest: string
  operations: string[]
}

/** Newest errors that are grouped. More would not change which ones are frequent. */
export const maxGroupedErrors = 1_000

/** Groups the newest errors by code and field, the most frequent first. */
export const groupErrors = (db: Db, service: Service, search: Search) =>
  db.rows<ErrorGroup>(
    sql`
    with entry as ${materialized(sql`
      select ${at} as at, coalesce(code, status::text) as code, status, operation, error_fields
        from request_log
       where service_id = ${service.id} ${isRetained(service)} ${buildConditions({ ...search, failed: true })}
       order by second desc, line_id desc limit ${maxGroupedErrors}`)}
    select code, min(status)::integer as status, field, count(*)::integer as times, max(at) as latest, array_agg(distinct operation order by operation) as operations
      from entry left join lateral jsonb_array_elements_text(error_fields) field on true
     group by code, field order by times desc, latest desc limit 50`,
    { customPlan: true },
  )

const blocksPerBatch = 1_000

/**
 * Deletes expired requests. Days that no service of this database retains are dropped as partitions. The remaining blocks of the given
 * services are deleted in batches. Returns the number of dropped days.
 */
export async function purgeRequestDays(db: Db, services: readonly Service[], isOver: () => boolean): Promise<number> {
  const maxDays = await readMaxRetentionDays(db)
  const row = await db.row<{ dropped: number }>(sql`select drop_request_days(${maxDays + 1}) as dropped`)
  await db.run(sql`delete from request_minute where minute < now() - interval '31 days'`)
  for (const service of services)
    if (service.settings.requestLogRetentionDays < maxDays)
      while (!isOver() && (await deleteBatch(db, service)) >= blocksPerBatch);
  return row?.dropped ?? 0
}

/** Returns the longest retention in days of all services, also of locked and moving ones, which still need their request log. */
async function readMaxRetentionDays(db: Db): Promise<number> {
  const row = await db.row<{ days: number | null }>(sql`
    select max(coalesce((settings->>'requestLogRetentionDays')::integer, ${defaultSettings.requestLogRetentionDays})) as days from service`)
  return row?.days ?? 0
}

/** Deletes a batch of the oldest expired blocks of a service. Returns their number. */
function deleteBatch(db: Db, { id, settings }: Service) {
  const old = sql`service_id = ${id} and second < now() - ${settings.requestLogRetentionDays} * interval '1 day'`
  return db.run(sql`
    delete from request_block
     where ${old} and second <= coalesce((select second from request_block where ${old} order by second offset ${blocksPerBatch - 1} limit 1), now())`)
}
