import type { ReportedReturnLine } from '../../../domain/orders/return-rules.ts'
import type { ReturnStatus } from '../../../domain/orders/returns.ts'
import { findElements, readInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/**
 * The status of a return by the Retail API's words. The codes are from its web-sales rows; some releases may return them instead.
 * Merged means that the return is known to the back office, but the goods have not arrived.
 */
const statuses: Readonly<Record<string, ReturnStatus>> = {
  processing: 'requested',
  pending: 'requested',
  imported: 'requested',
  exchange: 'requested',
  merged: 'requested',
  shipped: 'requested',
  'returned merged': 'requested',
  returned: 'received',
  received: 'received',
  'returned received': 'received',
  completed: 'refunded',
  refunded: 'refunded',
  cancelled: 'cancelled',
  '0': 'requested',
  '2': 'requested',
  '3': 'requested',
  '6': 'requested',
  '9': 'requested',
  '10': 'received',
  '5': 'refunded',
  '7': 'cancelled',
}

/**
 * The least advanced status first. A return has the status of its least advanced line. Cancelled lines count only if all lines are
 * cancelled.
 */
const byProgress = ['requested', 'received', 'refunded', 'cancelled'] as const

/** The longest word that is stored. */
const maxWordLength = 50

/**
 * Parses the lines and the status of a return. If the response has no status of the return, the statuses of its lines decide. `word` is the
 * back office's word for the status. `status` is null if the word is unknown.
 */
export function parseReturn(root: Xml): { status: ReturnStatus | null; word: string; lines: ReportedReturnLine[] } {
  const returnWord = readText(root, 'Status')
  const elements = findElements(root, 'OrderDetails', 'OrderDetail')
  const lines = elements.map(line => ({
    skuId: readText(line, 'SkuId') ?? '',
    quantity: Math.abs(readInteger(line, 'Quantity') ?? 0),
    isCancelled: findStatus(readText(line, 'Status') ?? '') === 'cancelled',
  }))
  const words = returnWord ? [returnWord] : elements.map(line => readText(line, 'Status') ?? '')
  const parsed = words.map(findStatus)
  const unknown = words.find((_, i) => parsed[i] === undefined)
  const slowest = byProgress.find(status => parsed.includes(status))
  if (unknown !== undefined || slowest === undefined)
    return { status: null, word: (unknown || 'none').slice(0, maxWordLength), lines }
  return { status: slowest, word: (words[parsed.indexOf(slowest)] ?? '').slice(0, maxWordLength), lines }
}

const findStatus = (word: string): ReturnStatus | undefined => statuses[word.trim().toLowerCase()]
