import type { MappedKind, MappingFinding } from './doctor.ts'

/** What the mapping doctor's CSV has beside the columns of a mapping: `tillbridge import` passes over them. */
export const findingColumns = ['name', 'state', 'ecommerceName', 'evidence', 'unitsInStock', 'unitsSold'] as const

/** The columns of a mapping: of a record here, and of what it is there. */
const mappingColumns: Readonly<Record<MappedKind, readonly [string, string]>> = {
  stores: ['storeId', 'ecommerceLocationId'],
  skus: ['skuId', 'ecommerceSku'],
  customers: ['customerId', 'ecommerceLegacyId'],
}

export const findingHeader = (kind: MappedKind): string[] => [...mappingColumns[kind], ...findingColumns]

/** The cells of a finding under that header: the suggestion, or else what it is mapped to. Undefined where there is nothing here to map. */
export function findingCells(finding: MappingFinding): string[] | undefined {
  const { id, name, state, ecommerceId, suggestion, ecommerceName, evidence, unitsInStock, unitsSold } = finding
  if (id === null) return
  const why = evidence.map(({ why, ecommerceId, id }) => [why, id ?? ecommerceId].filter(Boolean).join(' ')).join('; ')
  const cells = [id, suggestion ?? ecommerceId, name, state, ecommerceName, why, unitsInStock, unitsSold]
  return cells.map(cell => (cell === null ? '' : String(cell)))
}
