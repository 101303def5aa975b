import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { byChangeTimestamp, type PageRequest, readPage } from '../lists/page.ts'

/** The fields of a mapping. Null: not mapped. */
export type MappingFields = Readonly<Partial<Record<MappingField, string | null>>>
export type MappingField =
  | 'ecommerceLocationId'
  | 'ecommerceSku'
  | 'ecommerceProductId'
  | 'ecommerceAdminId'
  | 'ecommerceLegacyId'

interface FixedMapping {
  kind: MappedKind
  recordId: string
  before: MappingFields
  after: MappingFields
  username: string
  requestId: string
  /** The batch of a fix that is one of many. */
  batchId?: string | undefined
}

/** The record (`MappingFix`) of a row of `mapping_fix`. */
export const fixRecord = sql`
  (select row_to_json(r)::text from (select
     fix_id as id, kind, record_id as "recordId", before, after, username, request_id as "requestId",
     ${rfc3339(sql`mapping_fix.changed_at`)} as "fixedAt", ${rfc3339(sql`undone_at`)} as "undoneAt") r)`

/** True for fixes of the last 90 days, which can be undone. A mapping check deletes older ones. */
export const isKept = sql`changed_at >= now() - interval '90 days'`

/** Inserts a fix and returns its record. */
export const recordFix = (
  tx: Db,
  service: Service,
  { kind, recordId, before, after, username, requestId, batchId }: FixedMapping,
) =>
  tx.row<{ id: string; record: string }>(sql`
    insert into mapping_fix (service_id, kind, record_id, before, after, username, request_id, batch_id)
    values (${service.id}, ${kind}, ${recordId}, ${JSON.stringify(before)}::jsonb, ${JSON.stringify(after)}::jsonb, ${username}, ${requestId}, ${batchId ?? null})
    returning fix_id as id, ${fixRecord} as record`)

/** Locks a fix until the transaction ends. */
export const lockFix = (tx: Db, service: Service, fixId: string) =>
  tx.row<Pick<FixedMapping, 'kind' | 'recordId' | 'before' | 'after'> & { isUndone: boolean; record: string }>(sql`
    select kind, record_id as "recordId", before, after, undone_at is not null as "isUndone", ${fixRecord} as record
      from mapping_fix where service_id = ${service.id} and fix_id = ${fixId} and ${isKept} for update`)

/** Marks a fix as undone and returns its record. */
export const recordUndo = (tx: Db, service: Service, fixId: string) =>
  tx.row<{ record: string }>(sql`
    update mapping_fix set undone_at = now() where service_id = ${service.id} and fix_id = ${fixId} returning ${fixRecord} as record`)

/** Returns a page of fixes, newest first. A bulk export returns the oldest first. */
export const readFixPage = (db: Db, service: Service, request: PageRequest) =>
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
      descending: !request.asLines,
    },
    request,
  )
