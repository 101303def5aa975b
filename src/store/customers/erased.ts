import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { holdCustomers } from './removal.ts'

/** Which of these customers were erased; the others will not be before the transaction ends. */
export async function erasedAmong(tx: Db, service: Service, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const [, erased] = await Promise.all([
    holdCustomers(tx, service, ids),
    tx.rows<{ id: string }>(
      sql`select customer_id as id from erasure where service_id = ${service.id} and customer_id = any(${ids})`,
    ),
  ])
  return new Set(erased.map(({ id }) => id))
}
