import {
  EcommerceCustomerRow,
  EcommerceLocationRow,
  EcommerceVariantRow,
} from '../../domain/mappings/ecommerce-rows.ts'
import { type EcommerceItem, openItemImport, upsertItems } from '../../store/mappings/platform-items.ts'
import { type Notes, note } from './counts.ts'
import type { ImportType } from './import-type.ts'
import type { Prepare, Row } from './ingest.ts'

const replacesPrevious =
  'The file must be complete. It replaces the previous file, unless lines were rejected, the import was stopped, or the file contains corrected lines. Other columns are ignored.'

/** Returns the text of a cell without the apostrophe that the platform's exports put before numbers. */
const toText = (value: unknown): string | null => {
  const text = typeof value === 'string' ? value.trim().replace(/^'/, '') : ''
  return text === '' ? null : text
}
/** Returns the last part of a global ID (`gid://…`). */
const getLegacyId = (id: string | null) => id?.replace(/^gid:\/\/.*\//, '') ?? null

const createPrepare =
  (translate: (row: Row) => EcommerceItem, skippedNote = ''): Prepare<Row> =>
  async (_db, _service, rows) => {
    const notes: Notes = {}
    const inputs = rows.map(translate)
    const skipped = inputs.filter(({ ecommerceId }) => ecommerceId === null).length
    if (skipped) note(notes, skippedNote, skipped)
    return { inputs, notes }
  }

const toLocation = (row: Row): EcommerceItem => {
  const name = toText(row.name)
  const ecommerceId = getLegacyId(toText(row.locationId)) ?? name
  return { itemKey: ecommerceId ?? '', ecommerceId, name, other: name }
}

const toVariant = (row: Row): EcommerceItem => {
  const ecommerceId = toText(row.sku)
  const options = [row.option1, row.option2, row.option3].map(toText)
  const handle = toText(row.handle)
  const words = options.filter(option => option !== null && option !== 'Default Title').join(' / ')
  return {
    itemKey: handle === null ? (ecommerceId ?? '') : JSON.stringify([handle, ...options, ecommerceId]),
    ecommerceId,
    name: handle === null ? null : [handle, words].filter(Boolean).join(': '),
    other: toText(row.barcode),
  }
}

const toCustomer = (row: Row): EcommerceItem => {
  const ecommerceId = getLegacyId(toText(row.customerId))
  return { itemKey: ecommerceId ?? '', ecommerceId, name: null, other: toText(row.email) }
}

/** Records of the e-commerce platform, which mappings refer to. */
export const ecommerceTypes = {
  'ecommerce-locations': {
    description: 'One location of the e-commerce platform. It can occur in many lines.',
    remarks: `An inventory export of Shopify works unchanged. It has no IDs, so stores are mapped to location names. ${replacesPrevious}`,
    role: 'admin',
    shape: EcommerceLocationRow,
    key: [],
    documentedKey: ['locationId', 'name'],
    columnAliases: { locationId: ['Location ID', 'ID'], name: ['Location', 'Location name'] },
    ignoredColumns: 'all',
    replacesPrevious: true,
    prepare: createPrepare(toLocation),
    write: upsertItems('stores'),
    open: openItemImport('stores'),
    examples: [{}, { locationId: '6884556843', name: 'Bourke Street' }],
  },
  'ecommerce-variants': {
    description: 'One variant of a product of the e-commerce platform.',
    remarks: `Product and inventory exports of Shopify work unchanged. Lines without a SKU are ignored. ${replacesPrevious}`,
    role: 'admin',
    shape: EcommerceVariantRow,
    key: [],
    documentedKey: ['handle', 'option1', 'option2', 'option3', 'sku'],
    columnAliases: {
      sku: ['Variant SKU'],
      barcode: ['Variant Barcode'],
      handle: ['Handle', 'URL handle'],
      option1: ['Option1 Value'],
      option2: ['Option2 Value'],
      option3: ['Option3 Value'],
    },
    ignoredColumns: 'all',
    replacesPrevious: true,
    nullableColumn: 'sku',
    prepare: createPrepare(toVariant, 'without a SKU: skipped'),
    write: upsertItems('skus'),
    open: openItemImport('skus'),
    examples: [{}, { sku: 'MH01-S-Black', option2: 'S' }],
  },
  'ecommerce-customers': {
    description: 'One customer of the e-commerce platform.',
    remarks: `A customer export of Shopify works unchanged. ${replacesPrevious}`,
    role: 'admin',
    shape: EcommerceCustomerRow,
    key: [],
    documentedKey: ['customerId'],
    columnAliases: { customerId: ['Customer ID', 'ID'], email: ['Email', 'E-mail'] },
    ignoredColumns: 'all',
    replacesPrevious: true,
    prepare: createPrepare(toCustomer),
    write: upsertItems('customers'),
    open: openItemImport('customers'),
    examples: [{}, { customerId: '6477890125897', email: 'mary.lee@example.com' }],
  },
} as const satisfies Record<string, ImportType>
