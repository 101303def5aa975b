import type { ImportTypeName } from '../../../src/import/pipeline/import-types.ts'

/** The order in which the files are imported: what is referred to comes first. */
export const importOrder = [
  'references',
  'stores',
  'store-mapping',
  'staff',
  'products',
  'sku-mapping',
  'stock',
  'customers',
  'customer-mapping',
  'transactions',
] as const satisfies readonly ImportTypeName[]

/** The kinds of feed files that the conversion writes. */
export type Kind = (typeof importOrder)[number]

/** The content of one import file. Sums are integers as strings, so that none is rounded. */
export interface FileAccount {
  kind: Kind
  file: string
  rows: number
  /** Units: sold less returned, or in stock. */
  quantity: string
  /** The value of the lines, or the prices, in minor units; the rows `beyondCurrency` are not in it. */
  value: string
  /** Rows whose amount has more decimals than the currency. */
  beyondCurrency: number
}

/** The lines that were read, the files that were written, and the peculiarities of the data. */
export interface Accounts {
  /** Lines of each source file, its header apart. */
  linesRead: Record<string, number>
  /** The files written, in the order in which they are to be imported. */
  files: FileAccount[]
  /** How many records the rows make. */
  records: Record<'stores' | 'staff' | 'products' | 'skus' | 'stock' | 'customers' | 'transactions', number>
  /** Facts and oddities of each source, counted. */
  counted: Record<'uci' | 'adventureworks' | 'magento' | 'shop', Record<string, number>>
}

/** How many members of `groups` have more than one element. */
export const severalIn = (groups: Iterable<{ size: number }>) => [...groups].filter(group => group.size > 1).length

/** Adds to the set that stands under a key. */
export function addTo<K, V>(groups: Map<K, Set<V>>, key: K, value: V) {
  const group = groups.get(key)
  if (group) group.add(value)
  else groups.set(key, new Set([value]))
}

/** The amount that a price makes for some units, as text with the price's own decimals: exact where the currency is not. */
export function timesPrice(price: string, quantity: number): string {
  const [whole = '', fraction = ''] = price.split('.')
  const scaled = BigInt(whole + fraction) * BigInt(quantity)
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(fraction.length + 1, '0')
  const units = digits.slice(0, digits.length - fraction.length)
  return `${scaled < 0n ? '-' : ''}${units}${fraction && `.${digits.slice(-fraction.length)}`}`
}

/** A price rounded half up to two decimals. Prices are not negative. */
export function toCents(price: string): string {
  const [whole = '', fraction = ''] = price.split('.')
  const cents = (BigInt(whole + fraction.slice(0, 3).padEnd(3, '0')) + 5n) / 10n
  const digits = String(cents).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}
