import type { Db } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import * as mapping from '../../store/mappings/change-mapping.ts'
import type { MappingFields } from '../../store/mappings/fixes.ts'

/** The names of each kind: in operation IDs and in messages. */
export const names = {
  stores: { name: 'Store', noun: 'store' },
  skus: { name: 'Sku', noun: 'SKU' },
  customers: { name: 'Customer', noun: 'customer' },
} as const satisfies Record<MappedKind, object>

/** Returns the path of a mapping. */
export const buildPath = (kind: MappedKind, id: string) => `/mappings/${kind}/${encodeURIComponent(id)}`

/** Changes the mapping of a locked record. Throws `sku_taken` if another SKU has the e-commerce SKU. Returns the new record. */
export async function changeMapping(
  tx: Db,
  service: Service,
  kind: MappedKind,
  change: { id: string; before: string; change: MappingFields },
): Promise<string> {
  const record = await mapping.changeMapping(tx, service, kind, change)
  const detail = `Another SKU already uses ${change.change.ecommerceSku ?? change.id}.`
  throwIfAny(record === undefined ? [{ pointer: '/ecommerceSku', code: 'sku_taken', detail }] : [])
  return record as string
}
