import { type Database, type Db, sql } from '../../database/db.ts'
import { fileConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addJob } from '../jobs/jobs.ts'
import type { Upserted } from '../lists/change-timestamp.ts'
import { countUpsert } from '../lists/change-timestamp.ts'

/** An item of an e-commerce platform: a location, variant or customer. */
export interface EcommerceItem {
  itemKey: string
  /** Null: records can't be mapped to the item, so it is skipped. */
  ecommerceId: string | null
  name: string | null
  /** A further value by which records and items are compared, such as a barcode or an email address. */
  other: string | null
}

export const mappingCheckJob = 'check-mappings'

/** Queues a mapping check. If one is running, another one follows it. */
export const requestMappingCheck = (tx: Db, service: Service) => addJob(tx, service.id, mappingCheckJob)

/** Inserts or updates the items of files, of one kind. The last of several items with one key wins; unchanged items only get a new `seen_at`. */
export const upsertItems =
  (kind: MappedKind) =>
  (db: Database, service: Service, items: readonly EcommerceItem[]): Promise<Upserted> => {
    const unique = [
      ...new Map(items.filter(item => item.ecommerceId !== null).map(item => [item.itemKey, item])).values(),
    ]
    return db.transaction(async tx => {
      const counts = await countUpsert(
        tx,
        sql`
          insert into ecommerce_item as e (service_id, connection_id, kind, item_key, ecommerce_id, name, other, seen_at)
          select ${service.id}, ${fileConnection}, ${kind}, i."itemKey", i."ecommerceId", i.name, i.other, now()
            from json_to_recordset(${JSON.stringify(unique)}) i ("itemKey" text, "ecommerceId" text, name text, other text)
           order by i."itemKey" collate "C"
          on conflict (service_id, connection_id, kind, item_key) do update
             set (ecommerce_id, name, other, seen_at) = row(excluded.ecommerce_id, excluded.name, excluded.other, excluded.seen_at)
           where (e.ecommerce_id, e.name, e.other) is distinct from (excluded.ecommerce_id, excluded.name, excluded.other)
          returning (xmax = 0) as inserted`,
      )
      await tx.run(sql`
        update ecommerce_item set seen_at = now()
         where service_id = ${service.id} and connection_id = ${fileConnection} and kind = ${kind}
           and item_key = any(${unique.map(item => item.itemKey)}) and seen_at < now()`)
      return counts
    })
  }

export interface ImportEnd {
  /** True if the file was read completely and no line was rejected. */
  isComplete: boolean
  /** True if the file was read completely and at least one line was imported. */
  hasImportedLines: boolean
}

/**
 * Opens an import of platform items of one kind. A complete file replaces the previous one. At the end, a mapping check is queued.
 * Until one file was read to its end, records are `unverified` instead of `orphaned`.
 */
export const openItemImport = (kind: MappedKind) => async (db: Database, service: Service) => {
  const start = await db.row<{ at: string }>(sql`select now()::text as at`)
  return ({ isComplete, hasImportedLines }: ImportEnd) =>
    db.transaction(async tx => {
      const ofKind = sql`service_id = ${service.id} and kind = ${kind}`
      const deleted = isComplete
        ? await tx.run(sql`
            delete from ecommerce_item
             where ${ofKind} and connection_id = ${fileConnection} and seen_at < ${start?.at ?? null}::timestamptz`)
        : 0
      if (hasImportedLines)
        await tx.run(sql`insert into mapping_check (service_id, kind, listed_at) values (${service.id}, ${kind}, now())
          on conflict (service_id, kind) do update set listed_at = coalesce(mapping_check.listed_at, excluded.listed_at)`)
      await tx.run(sql`
        update mapping_check set (listed_at, listed) = row(now(), (select count(*) from ecommerce_item where ${ofKind}))
         where ${ofKind} and listed_at is not null`)
      await requestMappingCheck(tx, service)
      return deleted
    })
}

/** Opens an import of mappings. At the end, queues a mapping check if the service uses them. */
export const openMappingImport = async (db: Database, service: Service) => async () => {
  if (await hasMappingChecks(db, service)) await db.transaction(tx => requestMappingCheck(tx, service))
  return 0
}

/** True if the mappings of the service were ever checked, or a check is queued. */
export const hasMappingChecks = async (db: Db, service: Service) =>
  (await db.run(sql`
    select from job where service_id = ${service.id} and name = ${mappingCheckJob}
    union all select from mapping_check where service_id = ${service.id}`)) > 0
