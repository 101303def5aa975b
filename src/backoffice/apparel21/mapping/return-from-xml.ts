import type { ReportedReturnLine } from '../../../domain/orders/return-rules.ts'
import type { ReturnStatus } from '../../../domain/orders/returns.ts'
import { findElements, readInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/**
 * The status of a return by the Retail API's words. The codes are those of its web-sales rows, which some releases may show instead.
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

/** Cancelled lines count only if all lines are cancelled. Otherwise a return is as far as its slowest line. */
const byProgress = ['requested', 'received', 'refunded', 'cancelled'] as const

/** The longest word that is stored. */
const maxWordLength = 50

/**
 * Parses a return: its lines and its status, which is its own, if the response has one, otherwise that of its lines. `word` is the back
 * office's word. `status` is null if the word is unknown.
 */
export function parseReturn(root: Xml): { status: ReturnStatus | null; word: string; lines: ReportedReturnLine[] } {
  const own = readText(root, 'Status')
  const elements = findElements(root, 'OrderDetails', 'OrderDetail')
  const lines = elements.map(line => ({
    skuId: readText(line, 'SkuId') ?? '',
    quantity: Math.abs(readInteger(line, 'Quantity') ?? 0),
    isCancelled: findStatus(readText(line, 'Status') ?? '') === 'cancelled',
  }))
  const words = own ? [own] : elements.map(line => readText(line, 'Status') ?? '')
  const parsed = words.map(findStatus)
  const unknown = words.find((_, i) => parsed[i] === undefined)
  const slowest = byProgress.find(status => parsed.includes(status))
  if (unknown !== undefined || slowest === undefined)
    return { status: null, word: (unknown || 'none').slice(0, maxWordLength), lines }
  return { status: slowest, word: (words[parsed.indexOf(slowest)] ?? '').slice(0, maxWordLength), lines }
}

const findStatus = (word: string): ReturnStatus | undefined => statuses[word.trim().toLowerCase()]
