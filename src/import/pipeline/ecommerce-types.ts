import { Id, Text } from '../../domain/values/fields.ts'
import { Type } from '../../schemas/schemas.ts'
import { type EcommerceItem, openItemImport, upsertItems } from '../../store/mappings/platform-items.ts'
import { type Notes, note } from './counts.ts'
import type { ImportType } from './import-type.ts'
import type { Prepare, Row } from './ingest.ts'

const cell = (description: string, example: string, maxLength?: number) =>
  Type.Optional(Text(description, example, maxLength))

/** A location of the e-commerce platform. A file can have it in several lines. */
const EcommerceLocationRow = Type.Object({
  locationId: cell('The ID that stores are mapped to. Default: the name.', '6884556842', 100),
  name: Id('The name of the location.', 'Collins Street'),
})

/** A variant of a product of the e-commerce platform. */
const EcommerceVariantRow = Type.Object({
  sku: Id('The SKU that SKUs are mapped to.', 'MH01-XS-Black'),
  barcode: cell('The barcode.', '9300000000001', 100),
  handle: cell('The handle of the product.', 'chaz-kangeroo-hoodie'),
  option1: cell('The value of the first option.', 'Black'),
  option2: cell('The value of the second option.', 'XS'),
  option3: cell('The value of the third option.', 'Cotton'),
})

/** A customer of the e-commerce platform. */
const EcommerceCustomerRow = Type.Object({
  customerId: Id('The ID that customers are mapped to.', '6477890125896'),
  email: cell('The email address.', 'john.smith@example.com'),
})

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
