import { randomUUID } from 'node:crypto'
import { type Db, type Sql, sql } from '../../database/db.ts'
import { type AuditChange, type AuditGroup, getAuditGroup } from '../../domain/audit.ts'
import { defaultSettings, type Service } from '../../domain/tenancy/service-settings.ts'
import { nextChangeTimestamp } from '../lists/change-timestamp.ts'
import { byChangeTimestamp, filter, type PageRequest, readPage } from '../lists/page.ts'

/** A write, as the audit log stores it. */
export interface AuditedWrite {
  username: string
  requestId: string
  /** The program that acted for the account. */
  agent?: string | undefined
  apiKey?: string | undefined
  /** Method and path with parameter names: `PUT /customers/:id`. */
  operation: string
  /** The path of the written record. */
  subject: string
  /** The body. Only the names of its fields are stored. */
  body: unknown
  /** Old and new values, without personal and secret ones. */
  changes?: readonly AuditChange[] | undefined
}

/** Adds an audit entry in the transaction of its write. */
export async function addAuditEntry(
  tx: Db,
  service: Service,
  { username, requestId, operation, subject, body, agent, apiKey, changes }: AuditedWrite,
) {
  // The write may have changed the time zone.
  const zone = sql`(select coalesce(settings->>'timeZone', ${defaultSettings.timeZone}) from service where service_id = ${service.id})`
  await tx.run(sql`
    insert into audit (service_id, id, changed_at, record, is_administrative)
    select ${service.id}, id, changed_at, row_to_json(r)::text, ${getAuditGroup(operation) === 'admin'}
      from ${nextChangeTimestamp(service, ['audit'])} changed_at
     cross join lateral (
       select ${randomUUID()}::text as id, to_char(changed_at at time zone ${zone}, 'YYYY-MM-DD HH24:MI:SS') as at, ${username}::text as username,
              ${operation}::text as operation, ${subject}::text as subject, ${JSON.stringify(listFields(body))}::json as fields, ${changes ? JSON.stringify(changes) : null}::json as changes, ${requestId}::text as "requestId", ${agent ?? null}::text as agent,
              ${apiKey ?? null}::text as "apiKey") r`)
}

/** Lists the fields of a body as paths: `contact.email`. Fields of list entries are listed once. */
function listFields(body: unknown): string[] {
  const paths = new Set<string>()
  const collect = (value: unknown, path: string) => {
    const parts = typeof value === 'object' && value !== null ? Object.entries(value) : []
    for (const [name, child] of parts) collect(child, Array.isArray(value) ? path : path ? `${path}.${name}` : name)
    // An empty list is a value too: it clears.
    if (parts.length === 0 && path) paths.add(path)
  }
  collect(body, '')
  return [...paths]
}

const subjectColumn = sql`(record::json->>'subject')`

const usernameColumn = sql`(record::json->>'username')`

/** SQL for the seconds since a time. At least 0, because the time can be of a transaction that began after this one. */
const secondsSince = (time: Sql) => sql`coalesce(greatest(0, extract(epoch from now() - ${time})), 0)::float8`

/** Counts the writes of an operation to a subject within a day, with the seconds since the first and the last one. */
export async function countToday(tx: Db, service: Service, operation: string, subject: string) {
  const row = await tx.row<{ times: number; first: number; last: number }>(sql`
    select count(*)::integer as times, ${secondsSince(sql`min(changed_at)`)} as first, ${secondsSince(sql`max(changed_at)`)} as last
      from audit
     where service_id = ${service.id} and ${subjectColumn} = ${subject} and changed_at > now() - interval '1 day'
       and record::json->>'operation' = ${operation}`)
  return row ?? { times: 0, first: 0, last: 0 }
}

const groups: Readonly<Record<AuditGroup, Sql>> = {
  admin: sql`and is_administrative`,
  data: sql`and not is_administrative`,
}

interface Filters {
  updatedAfter?: string | undefined
  /** Only entries about this record. */
  subject?: string | undefined
  /** Only entries of this account. */
  account?: string | undefined
  /** Only entries of this group. */
  group?: AuditGroup | undefined
  newestFirst: boolean
}

/** Reads a page of the audit log (`Audit`), by change. `newestFirst` doesn't apply to exports. */
export const readAuditPage = (
  db: Db,
  service: Service,
  { updatedAfter, subject, account, group, newestFirst }: Filters,
  request: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: sql`audit`,
      record: sql`record`,
      order: byChangeTimestamp,
      key: sql`id`,
      descending: newestFirst && !request.asLines,
      changedAfter: updatedAfter,
      where: sql`
        ${filter(subject, path => sql`and ${subjectColumn} = ${path}`)}
        ${filter(account, name => sql`and ${usernameColumn} = ${name}`)}
        ${group ? groups[group] : sql``}`,
    },
    request,
  )
