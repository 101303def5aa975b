import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockRows } from './change-timestamp.ts'
import { opaqueServiceId } from './planner-fences.ts'

/** Locks stores before the records that show them are rendered: otherwise a concurrent rename would be lost. */
export const lockStores = (tx: Db, service: Service, ids: Iterable<string>) =>
  lockRows(
    tx,
    sql`select from store where service_id = ${opaqueServiceId(service)} and store_id = any(${[...new Set(ids)]}) order by store_id for share`,
  )
