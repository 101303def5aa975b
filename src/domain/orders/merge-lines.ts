import { Contradiction } from '../values/contradiction.ts'
import {
  computePrice,
  formatAmount,
  getDecimals,
  normalizeUnitPrice,
  parseAmount,
  parseStoredAmount,
} from '../values/money.ts'
import type { RetailTransaction } from './transactions.ts'

type Stored = Omit<RetailTransaction, 'updateTimeStamp'>
type Line = RetailTransaction['lines'][number]
type Header = Omit<Stored, 'lines' | 'total'>

/** The transaction and the line of one row. A missing field keeps the stored value, null clears it. */
export interface TransactionParts {
  header: Pick<Header, 'id'> & Partial<Header>
  line: Pick<Line, 'id'> & Partial<Omit<Line, 'value'>> & { value?: string | null }
  /** When the transaction changed in its source. */
  updateTimeStamp?: string | null
}

interface Merged {
  /** The complete transactions that have changed. */
  merged: Stored[]
  /** The number of rows with a new line. */
  inserted: number
  /** The number of rows that changed a line or its transaction. */
  changed: number
}

/** A transaction before and after the merge. */
interface Draft {
  storedHeader: Header | undefined
  header: Header
  storedLines: ReadonlyMap<string, Line>
  lines: Map<string, Line>
}

/** The prefix of line IDs from export files, which have no IDs: `x1`, `x2` … The back office's API has different IDs for the same lines. */
export const exportedLinePrefix = 'x'
const isExported = ({ id }: Pick<Line, 'id'>) => id.startsWith(exportedLinePrefix)

/**
 * Returns the rows of transactions that the other source (export file or API of the back office) has not delivered yet. With both, each line
 * would be stored twice.
 */
export const withoutOtherSource = (
  before: ReadonlyMap<string, Stored>,
  parts: readonly TransactionParts[],
): readonly TransactionParts[] =>
  parts.filter(
    ({ header, line }) => !before.get(header.id)?.lines.some(stored => isExported(stored) !== isExported(line)),
  )

/**
 * Merges rows into transactions. `before` has the stored transactions. Amounts get the decimals of the transaction's currency, by default the
 * service's currency. Throws `Contradiction` if an amount has more decimals.
 */
export function mergeLines(
  before: ReadonlyMap<string, Stored>,
  rows: readonly TransactionParts[],
  currency: string,
): Merged {
  const drafts = new Map<string, Draft>()
  for (const { header, line } of rows) {
    const draft = drafts.get(header.id) ?? createDraft(header.id, before.get(header.id), currency)
    drafts.set(header.id, draft)
    draft.header = mergeHeader(draft.header, header)
    const existing = draft.lines.get(line.id)
    draft.lines.set(line.id, mergeLine(existing, line, draft.lines.size + 1, getDecimals(draft.header.currency)))
  }
  return { merged: [...drafts.values()].flatMap(toResult), ...countRows(rows, drafts) }
}

function createDraft(id: string, stored: Stored | undefined, currency: string): Draft {
  if (!stored)
    return { storedHeader: undefined, header: createHeader(id, currency), storedLines: new Map(), lines: new Map() }
  const { lines, total: _, ...header } = stored
  const storedLines = new Map(lines.map(line => [line.id, line]))
  return { storedHeader: header, header, storedLines, lines: new Map(storedLines) }
}

const createHeader = (id: string, currency: string): Header => ({
  id,
  number: null,
  orderNumber: null,
  channel: 'store',
  type: 'sale',
  saleDate: '',
  customerId: null,
  storeNumber: null,
  storeName: null,
  currency,
})

const trackingFields = ['carrier', 'trackingNumber', 'trackingUrl'] as const

/** Returns the same object if nothing differs. The store name of the first import is kept while the store is the same. */
function mergeHeader(header: Header, parts: TransactionParts['header']): Header {
  const merged = { ...header, ...parts }
  if (header.storeName !== null && merged.storeNumber === header.storeNumber) merged.storeName = header.storeName
  // A row has the sum of several taxes.
  if (header.taxLines && sumTaxes(header) === sumTaxes(merged)) merged.taxLines = header.taxLines
  if (merged.taxLines?.length === 0) delete merged.taxLines
  // An empty cell of a file clears the field.
  for (const name of trackingFields) if (merged[name] === null) delete merged[name]
  return hasSameFields(header, merged) ? header : merged
}

const sumTaxes = ({ taxLines = [], currency }: Header) =>
  taxLines.reduce((sum, { amount }) => sum + (parseAmount(amount, getDecimals(currency)) ?? 0n), 0n)

/** Returns the merged line, or the same object if nothing differs. */
function mergeLine(
  existing: Line | undefined,
  parts: TransactionParts['line'],
  sequence: number,
  decimals: number,
): Line {
  const toUnits = (text: string) => {
    const parsed = parseAmount(text, decimals)
    if (parsed === undefined) throw new Contradiction('transaction_currency')
    return parsed
  }
  const line = {
    ...(existing ?? createLine(parts.id, sequence)),
    ...parts,
    ...(parts.price !== undefined && { price: normalizeUnitPrice(parts.price, decimals) ?? parts.price }),
    ...(parts.discounts && {
      discounts: parts.discounts.map(discount => ({
        ...discount,
        amount: formatAmount(toUnits(discount.amount), decimals),
      })),
    }),
  }
  if (typeof parts.value === 'string') line.value = formatAmount(toUnits(parts.value), decimals)
  else if (parts.value === null || !existing || !hasSamePrice(existing, line)) {
    // The source has no value: use the price of the units minus the discounts.
    const discounted = line.discounts.reduce((sum, discount) => sum + toUnits(discount.amount), 0n)
    line.value = formatAmount(
      computePrice(line.quantity, line.price, decimals) - (line.quantity < 0 ? -discounted : discounted),
      decimals,
    )
  }
  const merged = line as Line
  return existing && hasSameFields(existing, merged) ? existing : merged
}

const createLine = (id: string, sequence: number): Line => ({
  id,
  sequence,
  sku: null,
  productCode: null,
  productName: null,
  colourCode: null,
  colourName: null,
  sizeCode: null,
  quantity: 0,
  price: '0',
  value: '0',
  taxPercent: null,
  discounts: [],
})

/** True if the fields that determine a computed value are equal. */
const hasSamePrice = (a: Pick<Line, 'quantity' | 'price' | 'discounts'>, b: typeof a) =>
  a.quantity === b.quantity && a.price === b.price && isDeepEqual(a.discounts, b.discounts)

/** True if two records have the same fields with equal values. */
function hasSameFields<T extends object>(a: T, b: T) {
  if (Object.keys(a).length !== Object.keys(b).length) return false
  for (const name in b) if (a[name] !== b[name] && !isDeepEqual(a[name], b[name])) return false
  return true
}

const isDeepEqual = (a: unknown, b: unknown) => typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b)

/** Returns the transaction with sorted lines and their total, or nothing if it has not changed. */
function toResult({ storedHeader, header, storedLines, lines }: Draft): Stored[] {
  const isHeaderChanged = isChanged(storedHeader, header)
  if (!isHeaderChanged && ![...lines.values()].some(line => isChanged(storedLines.get(line.id), line))) return []
  const decimals = getDecimals(header.currency)
  const ordered = [...lines.values()].sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))
  const total = ordered.reduce((sum, line) => sum + parseStoredAmount(line.value, decimals), 0n)
  return [{ ...header, total: formatAmount(total, decimals), lines: ordered }]
}

const isChanged = <T extends object>(stored: T | undefined, current: T) =>
  stored !== current && !(stored && hasSameFields(stored, current))

/** Counts new and changed rows by the final result: two rows that contradict each other count as unchanged the second time. */
function countRows(rows: readonly TransactionParts[], drafts: ReadonlyMap<string, Draft>) {
  const changedHeaders = new Map<Draft, boolean>()
  const seen = new Set<Line>()
  let inserted = 0
  let changed = 0
  for (const { header, line } of rows) {
    const draft = drafts.get(header.id) as Draft
    const current = draft.lines.get(line.id) as Line
    const stored = draft.storedLines.get(line.id)
    if (!stored) {
      // The second row of a new line changes it.
      if (seen.has(current)) changed++
      else inserted++
      seen.add(current)
      continue
    }
    const isHeaderChanged = changedHeaders.get(draft) ?? !hasSameFields(draft.storedHeader as Header, draft.header)
    changedHeaders.set(draft, isHeaderChanged)
    if (isHeaderChanged || isChanged(stored, current)) changed++
  }
  return { inserted, changed }
}
