import { type Db, sql } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { byChangeTimestamp, type PageRequest, readPage } from '../lists/page.ts'
import { rfc3339 } from '../lists/rfc3339.ts'

/** The fields of a mapping: what each is there, null where it is nothing. */
export type MappingFields = Readonly<Partial<Record<MappingField, string | null>>>
export type MappingField =
  | 'ecommerceLocationId'
  | 'ecommerceSku'
  | 'ecommerceProductId'
  | 'ecommerceAdminId'
  | 'ecommerceLegacyId'

interface Fixed {
  kind: MappedKind
  id: string
  before: MappingFields
  after: MappingFields
  username: string
  requestId: string
}

/** The record (`MappingFix`) of a row of `mapping_fix`. */
export const fixRecord = sql`
  (select row_to_json(r)::text from (select
     fix_id as "fixId", kind, id, before, after, username, request_id as "requestId",
     ${rfc3339(sql`mapping_fix.changed_at`)} as "fixedAt", ${rfc3339(sql`undone_at`)} as "undoneAt") r)`

/** Whether a fix is one of the last 90 days, in which it can be undone; a judgement forgets older ones. */
export const isKept = sql`changed_at >= now() - interval '90 days'`

/** Writes down what a fix has changed; its record. */
export const noteFix = (tx: Db, service: Service, { kind, id, before, after, username, requestId }: Fixed) =>
  tx.row<{ fixId: string; record: string }>(sql`
    insert into mapping_fix (service_id, kind, id, before, after, username, request_id)
    values (${service.id}, ${kind}, ${id}, ${JSON.stringify(before)}::jsonb, ${JSON.stringify(after)}::jsonb, ${username}, ${requestId})
    returning fix_id as "fixId", ${fixRecord} as record`)

/** A fix, held until the transaction ends. */
export const heldFix = (tx: Db, service: Service, fixId: string) =>
  tx.row<Pick<Fixed, 'kind' | 'id' | 'before' | 'after'> & { isUndone: boolean; record: string }>(sql`
    select kind, id, before, after, undone_at is not null as "isUndone", ${fixRecord} as record
      from mapping_fix where service_id = ${service.id} and fix_id = ${fixId} and ${isKept} for update`)

/** Writes down that it was undone; its record. */
export const noteUndone = (tx: Db, service: Service, fixId: string) =>
  tx.row<{ record: string }>(sql`
    update mapping_fix set undone_at = now() where service_id = ${service.id} and fix_id = ${fixId} returning ${fixRecord} as record`)

/** The fixes of a service that are kept, the newest first; as lines the oldest. */
export const fixPage = (db: Db, service: Service, asked: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`mapping_fix`,
      record: fixRecord,
      order: byChangeTimestamp,
      key: sql`fix_id`,
      where: sql`and ${isKept}`,
      live: true,
      descending: !asked.lines,
    },
    asked,
  )
