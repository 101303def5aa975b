import { type Db, sql } from '../../db.ts'
import { valuesOfChange } from '../../domain/customers/change.ts'
import type { CustomerChange } from '../../domain/customers/input.ts'
import type { KnownReference, KnownReferences } from '../../domain/customers/references.ts'
import type { Finishing } from '../../domain/write.ts'
import type { Service } from '../../settings.ts'

/**
 * What the reference cache knows of values that a customer is to be given. They are locked until the transaction ends, and before
 * the customer, as an import of references does: a value that is renamed meanwhile would be shown as it was.
 */
export async function lockReferences(
  tx: Db,
  service: Service,
  values: readonly (readonly [type: string, value: string])[],
): Promise<KnownReferences> {
  const known = new Map<string, KnownReference>()
  const keyOf = (type: string, value: string) => JSON.stringify([type, value])
  if (values.length) {
    const rows = await tx.rows<KnownReference & { type: string; value: string }>(sql`
      select type, reference_value_id as value, code, name
        from reference
       where service_id = ${service.id}
         and (type, reference_value_id) in (select v->>0, v->>1 from json_array_elements(${JSON.stringify(values)}) v)
       order by type, reference_value_id
         for share`)
    for (const { type, value, ...reference } of rows) known.set(keyOf(type, value), reference)
  }
  return (type, value) => known.get(keyOf(type, value))
}

/** The same for the values that a change may set. */
export const lockReferencesOf = ({ tx, service }: Pick<Finishing, 'tx' | 'service'>, change: CustomerChange) =>
  lockReferences(tx, service, valuesOfChange(change, service.settings.subscriptionMapping))
