import {
  EcommerceCustomerRow,
  EcommerceLocationRow,
  EcommerceVariantRow,
} from '../../domain/mappings/ecommerce-rows.ts'
import { type EcommerceItem, openItemImport, upsertItems } from '../../store/mappings/platform-items.ts'
import { type Notes, note } from './counts.ts'
import type { ImportType } from './import-type.ts'
import type { Prepare, Row } from './ingest.ts'

const whole =
  'The file must be complete. It replaces the previous file, unless lines were rejected, the import was stopped, or the file contains corrected lines. Other columns are ignored.'

/** A cell as the platform means it: its exports put an apostrophe before what a spreadsheet would take for a number. */
const told = (value: unknown): string | null => {
  const text = typeof value === 'string' ? value.trim().replace(/^'/, '') : ''
  return text === '' ? null : text
}
/** What a global identifier of the platform ends with. */
const legacy = (id: string | null) => id?.replace(/^gid:\/\/.*\//, '') ?? null

const items =
  (translate: (row: Row) => EcommerceItem, without = ''): Prepare<Row> =>
  async (_db, _service, rows) => {
    const notes: Notes = {}
    const inputs = rows.map(translate)
    const left = inputs.filter(({ ecommerceId }) => ecommerceId === null).length
    if (left) note(notes, without, left)
    return { inputs, notes }
  }

const location = (row: Row): EcommerceItem => {
  const name = told(row.name)
  const ecommerceId = legacy(told(row.locationId)) ?? name
  return { itemKey: ecommerceId ?? '', ecommerceId, name, other: name }
}

const variant = (row: Row): EcommerceItem => {
  const ecommerceId = told(row.sku)
  const options = [row.option1, row.option2, row.option3].map(told)
  const handle = told(row.handle)
  const words = options.filter(option => option !== null && option !== 'Default Title').join(' / ')
  return {
    itemKey: handle === null ? (ecommerceId ?? '') : JSON.stringify([handle, ...options, ecommerceId]),
    ecommerceId,
    name: handle === null ? null : [handle, words].filter(Boolean).join(': '),
    other: told(row.barcode),
  }
}

const customer = (row: Row): EcommerceItem => {
  const ecommerceId = legacy(told(row.customerId))
  return { itemKey: ecommerceId ?? '', ecommerceId, name: null, other: told(row.email) }
}

/** What the e-commerce platform has: the other side of the mappings. */
export const ecommerceTypes = {
  'ecommerce-locations': {
    description: 'One location of the e-commerce platform. It can occur in many lines.',
    remarks: `An inventory export of Shopify works unchanged. It has no IDs, so stores are mapped to location names. ${whole}`,
    role: 'admin',
    shape: EcommerceLocationRow,
    key: [],
    toldApart: ['locationId', 'name'],
    titles: { locationId: ['Location ID', 'ID'], name: ['Location', 'Location name'] },
    passesOver: 'all',
    replaces: true,
    prepare: items(location),
    write: upsertItems('stores'),
    open: openItemImport('stores'),
    examples: [{}, { locationId: '6884556843', name: 'Bourke Street' }],
  },
  'ecommerce-variants': {
    description: 'One variant of a product of the e-commerce platform.',
    remarks: `Product and inventory exports of Shopify work unchanged. Lines without a SKU are ignored. ${whole}`,
    role: 'admin',
    shape: EcommerceVariantRow,
    key: [],
    toldApart: ['handle', 'option1', 'option2', 'option3', 'sku'],
    titles: {
      sku: ['Variant SKU'],
      barcode: ['Variant Barcode'],
      handle: ['Handle', 'URL handle'],
      option1: ['Option1 Value'],
      option2: ['Option2 Value'],
      option3: ['Option3 Value'],
    },
    passesOver: 'all',
    replaces: true,
    mayBeEmpty: 'sku',
    prepare: items(variant, 'have no SKU: left out'),
    write: upsertItems('skus'),
    open: openItemImport('skus'),
    examples: [{}, { sku: 'MH01-S-Black', option2: 'S' }],
  },
  'ecommerce-customers': {
    description: 'One customer of the e-commerce platform.',
    remarks: `A customer export of Shopify works unchanged. ${whole}`,
    role: 'admin',
    shape: EcommerceCustomerRow,
    key: [],
    toldApart: ['customerId'],
    titles: { customerId: ['Customer ID', 'ID'], email: ['Email', 'E-mail'] },
    passesOver: 'all',
    replaces: true,
    prepare: items(customer),
    write: upsertItems('customers'),
    open: openItemImport('customers'),
    examples: [{}, { customerId: '6477890125897', email: 'mary.lee@example.com' }],
  },
} as const satisfies Record<string, ImportType>
