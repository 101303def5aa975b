import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockCustomerKeys } from './removal.ts'

/** Returns which of these customers were erased. Locks the others against erasure until the transaction ends. */
export async function findErased(tx: Db, service: Service, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const [, erased] = await Promise.all([
    lockCustomerKeys(tx, service, ids),
    tx.rows<{ id: string }>(
      sql`select customer_id as id from erasure where service_id = ${service.id} and customer_id = any(${ids})`,
    ),
  ])
  return new Set(erased.map(({ id }) => id))
}
