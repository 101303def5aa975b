import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { hold } from './change-timestamp.ts'
import { anyService } from './statistics.ts'

/** Holds stores that are about to be shown, before what shows them: one that is renamed meanwhile would be shown as it was. */
export const holdStores = (tx: Db, service: Service, ids: Iterable<string>) =>
  hold(
    tx,
    sql`select from store where service_id = ${anyService(service)} and store_id = any(${[...new Set(ids)]}) order by store_id for share`,
  )
