import { Contradiction } from '../values/contradiction.ts'
import { amount, decimalsOf, minorUnits, priceOf, storedUnits, unitPrice } from '../values/money.ts'
import type { RetailTransaction } from './transactions.ts'

type Stored = Omit<RetailTransaction, 'updateTimeStamp'>
type Line = RetailTransaction['lines'][number]
type Header = Omit<Stored, 'lines' | 'total'>

/** A sync's row, taken apart: a field that is missing keeps what is there, null clears it. */
export interface TransactionParts {
  header: Pick<Header, 'id'> & Partial<Header>
  line: Pick<Line, 'id'> & Partial<Omit<Line, 'value'>> & { value?: string | null }
  /** When the transaction changed, as its source tells it. */
  updateTimeStamp?: string | null
}

interface Merged {
  /** The transactions that are not what they were, whole. */
  merged: Stored[]
  /** Rows whose line was new. */
  inserted: number
  /** Rows that changed a line, or whose transaction has changed otherwise. */
  changed: number
}

/** A transaction on its way: what it was, and what it is to be. */
interface Draft {
  was: Header | undefined
  header: Header
  wereLines: ReadonlyMap<string, Line>
  lines: Map<string, Line>
}

/** Lines of a head office's exports, which have no identifier, are called `x1`, `x2` …; the same sale has others in its API. */
export const exportedLine = 'x'
const isExported = ({ id }: Pick<Line, 'id'>) => id.startsWith(exportedLine)

/** What a head office's export or its API tells of sales that the other one has not told of: of both, their lines would be there twice. */
export const toldFirst = (
  before: ReadonlyMap<string, Stored>,
  given: readonly TransactionParts[],
): readonly TransactionParts[] =>
  given.filter(
    ({ header, line }) => !before.get(header.id)?.lines.some(stored => isExported(stored) !== isExported(line)),
  )

/**
 * Lines into the transactions they belong to. `before` holds those that exist; amounts get the decimals of the transaction's currency, which
 * is the service's where nobody says. Throws `Contradiction` where a line's amount has more.
 */
export function mergeLines(
  before: ReadonlyMap<string, Stored>,
  rows: readonly TransactionParts[],
  currency: string,
): Merged {
  const drafts = new Map<string, Draft>()
  for (const { header, line } of rows) {
    const draft = drafts.get(header.id) ?? draftOf(header.id, before.get(header.id), currency)
    drafts.set(header.id, draft)
    draft.header = mergeHeader(draft.header, header)
    const existing = draft.lines.get(line.id)
    draft.lines.set(line.id, mergeLine(existing, line, draft.lines.size + 1, decimalsOf(draft.header.currency)))
  }
  return { merged: [...drafts.values()].flatMap(outcome), ...count(rows, drafts) }
}

function draftOf(id: string, stored: Stored | undefined, currency: string): Draft {
  if (!stored) return { was: undefined, header: fresh(id, currency), wereLines: new Map(), lines: new Map() }
  const { lines, total: _, ...header } = stored
  const wereLines = new Map(lines.map(line => [line.id, line]))
  return { was: header, header, wereLines, lines: new Map(wereLines) }
}

const fresh = (id: string, currency: string): Header => ({
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

/** The same object where nothing differs. The name of a store is the one it had when the transaction came in. */
function mergeHeader(header: Header, given: TransactionParts['header']): Header {
  const merged = { ...header, ...given }
  if (header.storeName !== null && merged.storeNumber === header.storeNumber) merged.storeName = header.storeName
  return same(header, merged) ? header : merged
}

/** The line with every field in its place; the same object where nothing differs. */
function mergeLine(existing: Line | undefined, given: TransactionParts['line'], place: number, decimals: number): Line {
  const units = (text: string) => {
    const found = minorUnits(text, decimals)
    if (found === undefined) throw new Contradiction('transaction_currency')
    return found
  }
  const line = {
    ...(existing ?? freshLine(given.id, place)),
    ...given,
    ...(given.price !== undefined && { price: unitPrice(given.price, decimals) ?? given.price }),
    ...(given.discounts && {
      discounts: given.discounts.map(discount => ({ ...discount, amount: amount(units(discount.amount), decimals) })),
    }),
  }
  if (typeof given.value === 'string') line.value = amount(units(given.value), decimals)
  else if (given.value === null || !existing || !samePrice(existing, line)) {
    // Nobody says what was paid: the price of the units less the discounts.
    const off = line.discounts.reduce((sum, discount) => sum + units(discount.amount), 0n)
    line.value = amount(priceOf(line.quantity, line.price, decimals) - (line.quantity < 0 ? -off : off), decimals)
  }
  const merged = line as Line
  return existing && same(existing, merged) ? existing : merged
}

const freshLine = (id: string, sequence: number): Line => ({
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

/** What a value that was not given is made of. */
const samePrice = (a: Pick<Line, 'quantity' | 'price' | 'discounts'>, b: typeof a) =>
  a.quantity === b.quantity && a.price === b.price && alike(a.discounts, b.discounts)

/** Whether two records of the same fields hold the same. */
function same<T extends object>(a: T, b: T) {
  for (const name in b) if (a[name] !== b[name] && !alike(a[name], b[name])) return false
  return true
}

const alike = (a: unknown, b: unknown) => typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b)

/** The transaction with its lines in order and their sum; nothing where it is what it was. */
function outcome({ was, header, wereLines, lines }: Draft): Stored[] {
  const changed = was !== header && !(was && same(was, header))
  if (!changed && ![...lines.values()].some(line => differs(wereLines.get(line.id), line))) return []
  const decimals = decimalsOf(header.currency)
  const ordered = [...lines.values()].sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))
  const total = ordered.reduce((sum, line) => sum + storedUnits(line.value, decimals), 0n)
  return [{ ...header, total: amount(total, decimals), lines: ordered }]
}

const differs = (was: Line | undefined, line: Line) => was !== line && !(was && same(was, line))

/** Rows are judged by what has become of them in the end: two that contradict each other change nothing the second time. */
function count(rows: readonly TransactionParts[], drafts: ReadonlyMap<string, Draft>) {
  const heads = new Map<Draft, boolean>()
  const seen = new Set<Line>()
  let inserted = 0
  let changed = 0
  for (const { header, line } of rows) {
    const draft = drafts.get(header.id) as Draft
    const now = draft.lines.get(line.id) as Line
    const was = draft.wereLines.get(line.id)
    if (!was) {
      // The second of two rows for one new line has only changed it.
      if (seen.has(now)) changed++
      else inserted++
      seen.add(now)
      continue
    }
    const moved = heads.get(draft) ?? !same(draft.was as Header, draft.header)
    heads.set(draft, moved)
    if (moved || differs(was, now)) changed++
  }
  return { inserted, changed }
}
