import type { Db } from '../../database/db.ts'
import { type AuditChange, listChanges } from '../../domain/audit.ts'
import { getEcommerceIds } from '../../domain/customers/input.ts'
import { getItemKey } from '../../domain/ecommerce/items.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { mergeStores } from '../catalog/stores.ts'
import { mergeCustomers } from '../customers/customers.ts'
import { checkChangedMappings, lockMappingCheck } from './check-changed.ts'
import type { MappingField, MappingFields } from './fixes.ts'
import { findMapping } from './mappings.ts'
import { mapSku } from './writes.ts'

/** Changes a mapping. Fields that the change doesn't mention stay, null unmaps. Returns false if another SKU has the e-commerce SKU. */
const mergers: Readonly<
  Record<MappedKind, (tx: Db, service: Service, id: string, change: MappingFields) => Promise<boolean>>
> = {
  async stores(tx, service, storeId, change) {
    await mergeStores(tx, service, [{ storeId, ...change }])
    return true
  },
  skus: (tx, service, skuId, change) => mapSku(tx, service, { skuId, ...change }),
  async customers(tx, service, id, change) {
    await mergeCustomers(tx, service, [{ id, ...getEcommerceIds(change) }])
    return true
  },
}

/** The fields of a mapping that a fix changes. */
const fields: Readonly<Record<MappedKind, readonly MappingField[]>> = {
  stores: ['ecommerceLocationId'],
  skus: ['ecommerceSku'],
  customers: ['ecommerceAdminId', 'ecommerceLegacyId'],
}

/** Returns the mapped fields of a record, which is JSON. */
export function pickFields(kind: MappedKind, record: string): MappingFields {
  const values = JSON.parse(record) as Record<string, string | null>
  return Object.fromEntries(fields[kind].map(name => [name, values[name] ?? null]))
}

/** True if both mappings have the same values. */
export const areSame = (kind: MappedKind, a: MappingFields, b: MappingFields) =>
  fields[kind].every(field => a[field] === b[field])

/** Returns the changed values for the audit log, or undefined for a customer, whose identifiers are personal. */
export const listMappingChanges = (kind: MappedKind, before: object, after: object): AuditChange[] | undefined =>
  kind === 'customers' ? undefined : listChanges(before, after)

/** True if a record is mapped to this platform item (null: unmapped). An unmapped SKU uses its own ID, so that ID counts too. */
export function isMappedTo(id: string, now: MappingFields, expected: string | null): boolean {
  const { ecommerceLocationId, ecommerceSku, ecommerceLegacyId, ecommerceAdminId } = now
  const to =
    ecommerceLocationId ?? ecommerceSku ?? ecommerceLegacyId ?? (ecommerceAdminId ? getItemKey(ecommerceAdminId) : null)
  return to === expected || (ecommerceSku === null && expected === id)
}

/** Returns the fields that map a record to a platform item. Keeps the admin form of a customer if it names the same item. */
export function buildFields(kind: MappedKind, before: MappingFields, to: string | null): MappingFields {
  if (kind === 'stores') return { ecommerceLocationId: to }
  if (kind === 'skus') return { ecommerceSku: to }
  const { ecommerceAdminId = null } = before
  return {
    ecommerceAdminId: ecommerceAdminId && getItemKey(ecommerceAdminId) === to ? ecommerceAdminId : null,
    ecommerceLegacyId: to,
  }
}

/** A mapping to be changed. `before`: the current record, which must be locked. */
interface MappingChange {
  id: string
  before: string
  change: MappingFields
}

/**
 * Changes mappings of locked records and then checks all of them. Returns the new records by ID, without those whose e-commerce SKU another
 * SKU has.
 */
export async function changeMappings(
  tx: Db,
  service: Service,
  kind: MappedKind,
  changes: readonly MappingChange[],
): Promise<Map<string, string>> {
  await lockMappingCheck(tx, service, kind)
  const changed = new Map<string, string>()
  const ecommerceIds = new Set<string>()
  for (const { id, before, change } of changes) {
    if (!(await mergers[kind](tx, service, id, change))) continue
    const after = await findMapping(tx, service, kind, id)
    if (!after) throw new Error('locked mapping not found')
    changed.set(id, after.record)
    // An unmapped SKU uses its own ID.
    if (kind === 'skus') ecommerceIds.add(id)
    for (const record of [before, after.record])
      for (const target of Object.values(pickFields(kind, record)))
        if (target !== null) ecommerceIds.add(target).add(getItemKey(target))
  }
  if (changed.size) await checkChangedMappings(tx, service, kind, [...changed.keys()], [...ecommerceIds])
  return changed
}

/** Changes one mapping. Returns the new record, or undefined if another SKU has the e-commerce SKU. */
export const changeMapping = async (tx: Db, service: Service, kind: MappedKind, change: MappingChange) =>
  (await changeMappings(tx, service, kind, [change])).get(change.id)
