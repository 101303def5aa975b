import type { Db } from '../../database/db.ts'
import { getReferenceValues } from '../../domain/customers/changes.ts'
import type { CustomerChange } from '../../domain/customers/input.ts'
import type { CachedReference, ReferenceLookup } from '../../domain/customers/references.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockReferencesSql } from '../lists/references.ts'

/**
 * Locks and returns the cached references that a change can set. The locks last until the transaction ends, so that a value that is
 * renamed concurrently is not shown under its old name. Lock order: references, then the customer, as in an import of references.
 */
export async function lockReferencesOf(tx: Db, service: Service, change: CustomerChange): Promise<ReferenceLookup> {
  const values = getReferenceValues(change, service.settings.subscriptionMapping)
  const known = new Map<string, CachedReference>()
  const keyOf = (type: string, value: string) => JSON.stringify([type, value])
  if (values.length) {
    const rows = await tx.rows<CachedReference & { type: string; value: string }>(lockReferencesSql(service, values))
    for (const { type, value, ...reference } of rows) known.set(keyOf(type, value), reference)
  }
  return (type, value) => known.get(keyOf(type, value))
}
