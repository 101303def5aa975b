import type { MappedKind, MappingFinding } from './mapping-check.ts'

/** What the mapping doctor's CSV has beside the columns of a mapping: `tillbridge import` passes over them. */
export const findingColumns = ['name', 'state', 'ecommerceName', 'evidence', 'unitsInStock', 'unitsSold'] as const

/** The columns of a mapping, a record here and what it is there, and those besides. */
export const findingHeaders: Readonly<Record<MappedKind, readonly string[]>> = {
  stores: ['storeId', 'ecommerceLocationId', ...findingColumns],
  skus: ['skuId', 'ecommerceSku', ...findingColumns],
  customers: ['customerId', 'ecommerceLegacyId', 'ecommerceAdminId', ...findingColumns],
}

/**
 * The cells of a finding under that header: the suggestion, or else what it is mapped to. The admin form of a customer is there where it
 * ends with the same; empty, it is taken away. Undefined where there is nothing here to map. It is whole in itself: the console is
 * served its text (src/console/assets.ts).
 */
export function findingCells(kind: MappedKind, finding: MappingFinding): string[] | undefined {
  const { id, name, state, ecommerceId, suggestion, ecommerceName, evidence, unitsInStock, unitsSold } = finding
  if (id === null) return
  const there = suggestion ?? ecommerceId
  const adminId = finding.ecommerceAdminId?.split('/').at(-1) === there ? finding.ecommerceAdminId : null
  const why = evidence.map(({ why, ecommerceId, id }) => [why, id ?? ecommerceId].filter(Boolean).join(' ')).join('; ')
  const mapping = kind === 'customers' ? [id, there, adminId] : [id, there]
  const cells = [...mapping, name, state, ecommerceName, why, unitsInStock, unitsSold]
  return cells.map(cell => (cell === null ? '' : String(cell)))
}
