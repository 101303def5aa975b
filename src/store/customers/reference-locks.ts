import type { Db } from '../../database/db.ts'
import { getReferenceValues } from '../../domain/customers/changes.ts'
import type { CustomerChange } from '../../domain/customers/input.ts'
import type { CachedReference, ReferenceLookup } from '../../domain/customers/references.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockReferencesSql } from '../lists/references.ts'

/**
 * Locks the cached references that a change can set, and returns a function that finds them. The locks last until the transaction ends:
 * otherwise a concurrent rename would be lost. Lock order: references, then the customer, as in an import of references.
 */
export async function lockSettableReferences(
  tx: Db,
  service: Service,
  change: CustomerChange,
): Promise<ReferenceLookup> {
  const values = getReferenceValues(change, service.settings.subscriptionMapping)
  const references = new Map<string, CachedReference>()
  const toKey = (type: string, value: string) => JSON.stringify([type, value])
  if (values.length) {
    const rows = await tx.rows<CachedReference & { type: string; value: string }>(lockReferencesSql(service, values))
    for (const { type, value, ...reference } of rows) references.set(toKey(type, value), reference)
  }
  return (type, value) => references.get(toKey(type, value))
}
