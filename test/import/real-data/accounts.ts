import type { ImportTypeName } from '../../../src/import/pipeline/import-types.ts'

/** The import types in import order: referenced records come first. */
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

/** An import type of the files that the conversion writes. */
export type RealDataType = (typeof importOrder)[number]

/** Counts and sums of one import file. Sums are integers as strings, so that they are never rounded. */
export interface FileAccount {
  kind: RealDataType
  file: string
  rows: number
  /** Units in stock, or units sold minus units returned. */
  quantity: string
  /** The sum of line values or prices in minor units, without the rows counted in `beyondCurrency`. */
  value: string
  /** Rows whose amount has more decimals than the currency. */
  beyondCurrency: number
}

/** The result of a conversion. */
export interface Accounts {
  /** The number of lines of each source file, without the header. */
  linesRead: Record<string, number>
  /** The written files, in import order. */
  files: FileAccount[]
  /** The number of records that the rows contain. */
  records: Record<'stores' | 'staff' | 'products' | 'skus' | 'stock' | 'customers' | 'transactions', number>
  /** Counts of facts and anomalies, by source. */
  counts: Record<'uci' | 'adventureworks' | 'magento' | 'shop', Record<string, number>>
}

/** Counts the groups that have more than one element. */
export const countSeveral = (groups: Iterable<{ size: number }>) => [...groups].filter(group => group.size > 1).length

/** Adds a value to the set of a key. */
export function addToGroup<K, V>(groups: Map<K, Set<V>>, key: K, value: V) {
  const group = groups.get(key)
  if (group) group.add(value)
  else groups.set(key, new Set([value]))
}

/** Multiplies a price exactly. The result has as many decimals as the price, even if the currency has fewer. */
export function multiplyPrice(price: string, quantity: number): string {
  const [whole = '', fraction = ''] = price.split('.')
  const scaled = BigInt(whole + fraction) * BigInt(quantity)
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(fraction.length + 1, '0')
  const units = digits.slice(0, digits.length - fraction.length)
  return `${scaled < 0n ? '-' : ''}${units}${fraction && `.${digits.slice(-fraction.length)}`}`
}

/** Rounds a price half up to two decimals. The price can't be negative. */
export function roundPrice(price: string): string {
  const [whole = '', fraction = ''] = price.split('.')
  const cents = (BigInt(whole + fraction.slice(0, 3).padEnd(3, '0')) + 5n) / 10n
  const digits = String(cents).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}
