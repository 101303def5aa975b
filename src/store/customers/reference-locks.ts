import { valuesOfChange } from '../../domain/customers/changes.ts'
import type { CustomerChange } from '../../domain/customers/input.ts'
import type { KnownReference, KnownReferences } from '../../domain/customers/references.ts'
import type { Finishing } from '../../writes/write.ts'
import { heldReferences } from '../lists/references.ts'

/**
 * What the reference cache knows of the values that a change may set. They are locked until the transaction ends, and before
 * the customer, as an import of references does: a value that is renamed meanwhile would be shown as it was.
 */
export async function lockReferencesOf(
  { tx, service }: Pick<Finishing, 'tx' | 'service'>,
  change: CustomerChange,
): Promise<KnownReferences> {
  const values = valuesOfChange(change, service.settings.subscriptionMapping)
  const known = new Map<string, KnownReference>()
  const keyOf = (type: string, value: string) => JSON.stringify([type, value])
  if (values.length) {
    const rows = await tx.rows<KnownReference & { type: string; value: string }>(heldReferences(service, values))
    for (const { type, value, ...reference } of rows) known.set(keyOf(type, value), reference)
  }
  return (type, value) => known.get(keyOf(type, value))
}
