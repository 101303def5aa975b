import { type Static, Type } from '../schemas/schemas.ts'
import { OneOf, Text } from './values/fields.ts'

export const searchTypes = ['customer', 'order', 'sale', 'return', 'product', 'sku', 'voucher'] as const
export type SearchType = (typeof searchTypes)[number]

/** A record that a search has found. */
export type SearchResult = Static<typeof SearchResult>
export const SearchResult = Type.Object(
  {
    type: OneOf(
      'The type of the record. `sale`: a retail transaction. `voucher` is found by admins only.',
      searchTypes,
    ),
    id: Text('The ID of the record: of a SKU the SKU, of a voucher its number.', '65432'),
    title: Text('The name or number of the record.', 'Jane Smith', 1_000),
    detail: Text('More about the record.', 'jane@example.com · 0400 123 456 · Carlton', 2_000),
    matchedField: OneOf('The field that contains the search text.', [
      'name',
      'email',
      'phone',
      'number',
      'orderNumber',
      'sku',
      'barcode',
      'id',
    ]),
    matchedText: Text('The content of that field.', 'jane@example.com', 1_000),
  },
  { $id: 'SearchResult', additionalProperties: false },
)

/** The number of results of each type. */
export const maxResultsPerType = 20

const minPhoneDigits = 4

/**
 * Returns the ends that a stored phone number can have, with their digits in reverse order, as the search index has them. A national number
 * begins with a zero that an international number leaves out, and a country code has one to three digits.
 */
export function toPhonePrefixes(text: string): string[] {
  if (!/^[\d\s()+./-]+$/.test(text)) return []
  const digits = text.replace(/\D/g, '')
  if (digits.length < minPhoneDigits) return []
  const national = digits.replace(/^0+/, '')
  const isInternational = /^\s*(\+|00)/.test(text)
  const ends = isInternational ? [1, 2, 3].map(length => national.slice(length)) : [national]
  return [...new Set([digits, ...ends])]
    .filter(end => end.length >= minPhoneDigits)
    .map(end => [...end].reverse().join(''))
}
