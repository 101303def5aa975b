import type { MappedKind, MappingIssue } from './mapping-check.ts'

/** Columns that the CSV of the mapping check has in addition to the columns of a mapping. `tillbridge import` skips them. */
export const issueColumns = ['name', 'state', 'ecommerceName', 'evidence', 'unitsInStock', 'unitsSold'] as const

/** The CSV header of each kind: the columns of a mapping, then those of the issue. */
export const issueCsvHeaders: Readonly<Record<MappedKind, readonly string[]>> = {
  stores: ['storeId', 'ecommerceLocationId', ...issueColumns],
  skus: ['skuId', 'ecommerceSku', ...issueColumns],
  customers: ['customerId', 'ecommerceLegacyId', 'ecommerceAdminId', ...issueColumns],
}

/**
 * Returns the cells of an issue under that header: the suggestion, otherwise the current mapping. The admin form of a customer is kept
 * only if it ends with the same identifier. Returns undefined if there is no record to map. This function must not use anything
 * outside itself, because the console is served its source text (src/console/assets.ts).
 */
export function issueCsvCells(kind: MappedKind, issue: MappingIssue): string[] | undefined {
  const { id, name, state, ecommerceId, suggestion, ecommerceName, evidence, unitsInStock, unitsSold } = issue
  if (id === null) return
  const target = suggestion ?? ecommerceId
  const adminId = issue.ecommerceAdminId?.split('/').at(-1) === target ? issue.ecommerceAdminId : null
  const reasons = evidence
    .map(({ reason, ecommerceId: platformId, id: itemId }) => [reason, itemId ?? platformId].filter(Boolean).join(' '))
    .join('; ')
  const mapping = kind === 'customers' ? [id, target, adminId] : [id, target]
  const cells = [...mapping, name, state, ecommerceName, reasons, unitsInStock, unitsSold]
  return cells.map(cell => (cell === null ? '' : String(cell)))
}
