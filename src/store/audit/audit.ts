import { randomUUID } from 'node:crypto'
import { type Db, type Sql, sql } from '../../database/db.ts'
import { defaultSettings, type Service } from '../../domain/tenancy/service-settings.ts'
import { nextChangeTimestamp } from '../lists/change-timestamp.ts'
import { byChangeTimestamp, changedAfter, filter, type PageRequest, readPage } from '../lists/page.ts'

/** A write as the audit keeps it. */
export interface AuditedWrite {
  username: string
  requestId: string
  /** Method and path, its parameters by their names: `PUT /customers/:id`. */
  operation: string
  /** The path of what was written. */
  subject: string
  /** The body: its fields are named, their values are not kept. */
  body: unknown
}

/** Leaves a line about a write, in its transaction. */
export async function addAuditEntry(
  tx: Db,
  service: Service,
  { username, requestId, operation, subject, body }: AuditedWrite,
) {
  // The write may have been one of the time zone.
  const zone = sql`(select coalesce(settings->>'timeZone', ${defaultSettings.timeZone}) from service where service_id = ${service.id})`
  await tx.run(sql`
    insert into audit (service_id, id, changed_at, record)
    select ${service.id}, id, changed_at, row_to_json(r)::text
      from ${nextChangeTimestamp(service, ['audit'])} changed_at
     cross join lateral (
       select ${randomUUID()}::text as id, to_char(changed_at at time zone ${zone}, 'YYYY-MM-DD HH24:MI:SS') as at, ${username}::text as username,
              ${operation}::text as operation, ${subject}::text as subject, ${JSON.stringify(listFields(body))}::json as fields, ${requestId}::text as "requestId") r`)
}

/** The fields of a body by their paths, `contact.email`, those of a list's entries once. */
function listFields(body: unknown): string[] {
  const found = new Set<string>()
  const walk = (value: unknown, path: string) => {
    const parts = typeof value === 'object' && value !== null ? Object.entries(value) : []
    for (const [name, each] of parts) walk(each, Array.isArray(value) ? path : path ? `${path}.${name}` : name)
    // An empty list is a value too: it clears.
    if (parts.length === 0 && path) found.add(path)
  }
  walk(body, '')
  return [...found]
}

/** The path of what a line is about. */
const subjectColumn = sql`(record::json->>'subject')`

/** Which account wrote it. */
const usernameColumn = sql`(record::json->>'username')`

/** Seconds since a moment, which may be that of a transaction that began after this one. */
const secondsSince = (moment: Sql) => sql`coalesce(greatest(0, extract(epoch from now() - ${moment})), 0)::float8`

/** How often something was done to a subject within a day, and the seconds since the first and the last of these times. */
export async function countToday(tx: Db, service: Service, operation: string, subject: string) {
  const row = await tx.row<{ times: number; first: number; last: number }>(sql`
    select count(*)::integer as times, ${secondsSince(sql`min(changed_at)`)} as first, ${secondsSince(sql`max(changed_at)`)} as last
      from audit
     where service_id = ${service.id} and ${subjectColumn} = ${subject} and changed_at > now() - interval '1 day'
       and record::json->>'operation' = ${operation}`)
  return row ?? { times: 0, first: 0, last: 0 }
}

interface Filters {
  updatedAfter?: string | undefined
  /** Only what was about it. */
  subject?: string | undefined
  /** Only what this account wrote. */
  account?: string | undefined
  newestFirst: boolean
}

/** What was written. */
export const readAuditPage = (
  db: Db,
  service: Service,
  { updatedAfter, subject, account, newestFirst }: Filters,
  asked: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: sql`audit`,
      record: sql`record`,
      order: byChangeTimestamp,
      key: sql`id`,
      descending: newestFirst && !asked.asLines,
      where: sql`
        ${filter(updatedAfter, changedAfter)}
        ${filter(subject, path => sql`and ${subjectColumn} = ${path}`)}
        ${filter(account, name => sql`and ${usernameColumn} = ${name}`)}`,
    },
    asked,
  )
