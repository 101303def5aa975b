import type { Db } from '../../database/db.ts'
import { ecommerceIdsOf } from '../../domain/customers/input.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { mergeStores } from '../../store/catalog/stores.ts'
import { mergeCustomers } from '../../store/customers/customers.ts'
import { holdJudgement, judgeChanged } from '../../store/mappings/check-changed.ts'
import type { MappingField, MappingFields } from '../../store/mappings/fixes.ts'
import { mappingRecord } from '../../store/mappings/mappings.ts'
import { mapSku } from '../../store/mappings/writes.ts'

/** What each kind is called: in the names of operations, one, several, and what they are there. */
export const names = {
  stores: { name: 'Store', one: 'store', many: 'stores', there: 'locations' },
  skus: { name: 'Sku', one: 'SKU', many: 'SKUs', there: 'SKUs of variants' },
  customers: { name: 'Customer', one: 'customer', many: 'customers', there: 'customers' },
} as const satisfies Record<MappedKind, object>

/** Where the mapping of a record is. */
export const pathOf = (kind: MappedKind, id: string) => `/mappings/${kind}/${encodeURIComponent(id)}`

/** How a mapping is changed: what is not mentioned stays, null takes it away. */
const apply: Readonly<
  Record<MappedKind, (tx: Db, service: Service, id: string, change: MappingFields) => Promise<void>>
> = {
  async stores(tx, service, storeId, change) {
    await mergeStores(tx, service, [{ storeId, ...change }])
  },
  async skus(tx, service, skuId, change) {
    if (await mapSku(tx, service, { skuId, ...change })) return
    const detail = `Another SKU already uses ${change.ecommerceSku ?? skuId}.`
    throwIfAny([{ pointer: '/ecommerceSku', code: 'sku_taken', detail }])
  },
  async customers(tx, service, id, change) {
    await mergeCustomers(tx, service, [{ id, ...ecommerceIdsOf(change) }])
  },
}

/** The fields of a mapping that a fix changes. */
const fields: Readonly<Record<MappedKind, readonly MappingField[]>> = {
  stores: ['ecommerceLocationId'],
  skus: ['ecommerceSku'],
  customers: ['ecommerceAdminId', 'ecommerceLegacyId'],
}

/** What a mapping says, of its record. */
export function fieldsIn(kind: MappedKind, record: string): MappingFields {
  const told = JSON.parse(record) as Record<string, string | null>
  return Object.fromEntries(fields[kind].map(name => [name, told[name] ?? null]))
}

/** Whether two mappings of a kind say the same. */
export const areSame = (kind: MappedKind, one: MappingFields, other: MappingFields) =>
  fields[kind].every(field => one[field] === other[field])

const tailOf = (adminId: string | null | undefined) => adminId?.replace(/^.*\//, '')

/**
 * Whether a record is mapped to what a finding says, null: to nothing. One that goes by its own identifier is found as that, though
 * nobody has said so.
 */
export function isMappedTo(id: string, now: MappingFields, found: string | null): boolean {
  const { ecommerceLocationId, ecommerceSku, ecommerceLegacyId, ecommerceAdminId } = now
  const to = ecommerceLocationId ?? ecommerceSku ?? ecommerceLegacyId ?? tailOf(ecommerceAdminId) ?? null
  return to === found || (ecommerceSku === null && found === id)
}

/** The fields that map a record to something there. The admin form of a customer stays where it names the same one. */
export function fieldsTo(kind: MappedKind, before: MappingFields, to: string | null): MappingFields {
  if (kind === 'stores') return { ecommerceLocationId: to }
  if (kind === 'skus') return { ecommerceSku: to }
  const { ecommerceAdminId = null } = before
  return { ecommerceAdminId: tailOf(ecommerceAdminId) === to ? ecommerceAdminId : null, ecommerceLegacyId: to }
}

/** Changes the mapping of a record that is held, whose record is `before`, and has the doctor see it. Returns its record. */
export async function changeMapping(
  tx: Db,
  service: Service,
  kind: MappedKind,
  { id, before, change }: { id: string; before: string; change: MappingFields },
): Promise<string> {
  await holdJudgement(tx, service, kind)
  await apply[kind](tx, service, id, change)
  const after = await mappingRecord(tx, service, kind, id)
  if (!after) throw new Error('what is held stays')
  const there = [before, after.record].flatMap(record => Object.values(fieldsIn(kind, record)))
  const known = there.flatMap(one => (one === null ? [] : [one, tailOf(one) ?? one]))
  // A SKU that is not mapped goes by its own identifier.
  await judgeChanged(tx, service, kind, id, [...new Set(kind === 'skus' ? [id, ...known] : known)])
  return after.record
}
