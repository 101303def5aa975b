import { getDecimals } from '../../domain/values/money.ts'
import type { CleanCell } from './cells.ts'
import type { Field } from './columns.ts'
import type { DecimalMark } from './numbers.ts'
import type { Line } from './sheet.ts'

/** Cleans cells that spreadsheets and database exports change, and finds lines that are no records. Remarks have no content of lines. */

const invisible = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\ufeff]/g
/** Contacts of a phone have them around numbers. In names, they are rejected, and so are the signs that reverse a text. */
const writingDirection = /[\u202a-\u202c\u2066-\u2069]/g
/** Also the zero date of MySQL. */
const placeholder = /^\s*(?:NULL|\\N|#N\/[ABD]|#NV|NaN|NaT|[(<[](?:null|NULL)[)>\]]|0000-00-00(?: 00:00:00)?)\s*$/
/** Cheap test that nearly all cells fail. Its last alternative is one class, because it is tried at each character. */
const suspect = new RegExp(
  `^\\s*(?:['‘’´\`=]|\\d+\\.0\\s*$)|${placeholder.source}|${invisible.source.replace(']', '\u202a-\u202c\u2066-\u2069\ufffd&ÃÂâ]')}`,
)
const htmlReference = /&(?:[A-Za-z]{2,8}|#\d{2,6}|#x[\dA-Fa-f]{2,5});/
/** UTF-8 that was decoded as Windows-1252: `Ã¼` for `ü`, `Â°` for `°`, `â€™` for `’`. */
const decodedTwice = /Ã[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|Â[\u00a0-\u00bf]|â€[\u0080-\u00bfœ™˜“”¦]/
/** Before a formula character, an apostrophe belongs to the value: exported files have two of them there (`formulas.ts`). */
const leadingApostrophe = /^\s*['‘’´`](?![=@]|[+-]\D)/
/** Text that a spreadsheet must not convert to a number. */
const formulaText = /^\s*="((?:[^"]|"")*)"\s*$/
/** Three decimals, or separators of thousands. */
const ambiguousPoint = /^\s*-?[1-9]\d{0,2}(?:\.\d{3})+\s*$/
const decimalIdentifier = /^\s*\d+\.0\s*$/

/** Names can begin with an apostrophe (`'s-Hertogenbosch`), but these columns and all numbers and dates can't. */
const withoutApostrophe = /(?:id|sku|code|number|phone|home|mobile|work|reference)$/i
const freeFormats = new Set<string | undefined>([undefined, 'list', 'reference-pairs', 'secret', 'email'])

const removedApostrophe = 'apostrophe before an identifier, number, post code or phone: removed'
const unwrappedFormula = 'text as a formula such as ="007": read without it'

/** A space at an end, and characters that no one types: invisible ones, unusual spaces, and those that a conversion has lost. */
const unlikelyInSecret = /^\s|\s$|[\p{C}\ufffd]|(?! )\p{Z}/u

/** Unwraps a PIN of digits. Other secrets can contain any character, but unlikely ones get a remark. */
const unwrapSecret: CleanCell = (text, addRemark) => {
  const [, afterApostrophe, inFormula] = /^\s*(?:['‘’](\d+)|="(\d+)")\s*$/.exec(text) ?? []
  if (afterApostrophe) addRemark(removedApostrophe)
  if (inFormula) addRemark(unwrappedFormula)
  if (decimalIdentifier.test(text)) addRemark('PIN that ends in .0: kept, check the export')
  else if (unlikelyInSecret.test(text) && text.trim() !== '')
    addRemark('PIN with a space at an end or an unusual character: kept, check the export')
  return afterApostrophe ?? inFormula ?? text
}

export function createCellCleaner(
  { name, shape }: Pick<Field, 'name' | 'shape'>,
  { currency, decimal }: { currency: string; decimal?: DecimalMark | undefined },
): CleanCell {
  const { format, type = 'string', enum: words, maxLength = 0 } = shape
  // Descriptions can be HTML.
  const isPlainText = type === 'string' && maxLength < 1000
  if (format === 'secret') return unwrapSecret
  const hasApostrophe = type === 'string' && !words && freeFormats.has(format) && !withoutApostrophe.test(name)
  const isAmount = format === 'money' || format === 'unit-price'
  const removeSign = isAmount ? createSignRemover(currency) : undefined
  const isNumber = type === 'number' || type === 'integer' || (isAmount && getDecimals(currency) < 3)
  const hasUnclearPoint = isNumber && decimal === undefined
  const hasDirection = type === 'string' && (withoutApostrophe.test(name) || format === 'email')
  return (text, addRemark) => {
    let cleaned = text
    if (suspect.test(text)) {
      if (placeholder.test(text)) {
        addRemark('placeholder such as NULL or #N/A: read as an empty cell')
        return ''
      }
      cleaned = text.replace(invisible, '')
      if (hasDirection) cleaned = cleaned.replace(writingDirection, '')
      if (cleaned !== text) addRemark('invisible characters: removed')
      const [, content] = formulaText.exec(cleaned) ?? []
      if (content !== undefined) {
        addRemark(unwrappedFormula)
        cleaned = content.replaceAll('""', '"')
      }
      if (type === 'string' && withoutApostrophe.test(name) && decimalIdentifier.test(cleaned))
        addRemark('identifier, post code or phone that ends in .0: kept, check the export')
      if (!hasApostrophe && leadingApostrophe.test(cleaned)) {
        addRemark(removedApostrophe)
        cleaned = cleaned.replace(leadingApostrophe, '')
      }
      if (cleaned.includes('\ufffd'))
        addRemark('character that an earlier conversion has lost (U+FFFD): kept, check the export')
      if (isPlainText && htmlReference.test(cleaned))
        addRemark('HTML character reference such as &amp;: kept, check the export')
      if (isPlainText && decodedTwice.test(cleaned))
        addRemark('text that was decoded twice, such as Ã¼: kept, check the export')
    }
    const amount = removeSign?.(cleaned) ?? cleaned
    if (amount !== cleaned) addRemark('sign of the currency: removed')
    if (hasUnclearPoint && ambiguousPoint.test(amount))
      addRemark('number with three decimals, such as 1.234: if the point separates thousands, use --decimal ,')
    return amount
  }
}

/** Returns a function that removes the sign or the code of a currency before or after an amount. */
function createSignRemover(currency: string) {
  const signs = [currency]
  for (const currencyDisplay of ['narrowSymbol', 'symbol'] as const)
    for (const locale of ['en', 'ja'])
      signs.push(
        new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay })
          .formatToParts(1)
          .find(part => part.type === 'currency')?.value ?? currency,
      )
  const longestFirst = [...new Set(signs)].sort((a, b) => b.length - a.length)
  return (text: string) => {
    const trimmed = text.trim()
    if (/^[-+]?[\d.,]/.test(trimmed) && /\d$/.test(trimmed)) return text
    const [, minus = '', unsigned = trimmed] = /^([-+])(.*)$/s.exec(trimmed) ?? []
    for (const sign of longestFirst) {
      if (unsigned.startsWith(sign)) return minus + unsigned.slice(sign.length).trim()
      if (unsigned.endsWith(sign)) return minus + unsigned.slice(0, -sign.length).trim()
    }
    return text
  }
}

const totals = /^(?:(?:grand |sub)?totals?|sum|summe|gesamt(?:summe)?|total général|totale|totaal|suma|合計)\s*:?$/i

const rowCount = /^\(\d[\d,.]{0,14} rows?(?: affected)?\)$/i

/**
 * Returns the remark about a line of a CSV file that is no record: blank, a repeated header, totals, or added by a database tool. Otherwise
 * undefined.
 */
export function describeNoRecord({ cells }: Line, fields: readonly Field[]): string | undefined {
  const first = cells.find(cell => cell !== '')
  if (first === undefined) return cells.length && cells[0] === '' ? blankLine : undefined
  if (typeof first !== 'string') return
  if (first.trim() === '')
    return cells.every(cell => typeof cell === 'string' && cell.trim() === '') ? blankLine : undefined
  const inFile = fields.filter(({ place }) => place >= 0)
  if (inFile.length > 1 && inFile.every(({ place, header }) => isCell(cells[place], header)))
    return 'repeated header: skipped'
  if (first.startsWith('--') && cells.every(cell => typeof cell === 'string' && /^-{2,}\s*$/.test(cell)))
    return 'line of dashes: skipped'
  if (first.startsWith('(') || first.startsWith('\u001a')) {
    // A separator in the count splits the line into two cells.
    const text = cells.join(',').replace(/,,|,$/g, '')
    if (text === '\u001a') return 'end-of-file character: skipped'
    if (rowCount.test(text)) return 'row count of a database: skipped'
  }
  if (first.length > 20 || !totals.test(first.trim())) return
  const isIncomplete = inFile.some(({ place, required }) => required && isCell(cells[place] ?? '', ''))
  return isIncomplete ? 'line of totals: skipped' : undefined
}

const blankLine = 'line without content: skipped'
const isCell = (cell: unknown, text: string) => typeof cell === 'string' && cell.trim() === text

export const repeatedKey = 'same key as an earlier line, but different content: only one of them is stored'

/** The number of keys that are remembered. Repeats of later keys have no remark, which limits the memory. */
const maxKeys = 500_000

/** Returns a function that is true if an earlier row has the same key and different content. Compares hashes. */
export function createRepeatCheck(keyColumns: readonly string[], allRequired: boolean) {
  const contents = new Map<number, number>()
  return (row: Readonly<Record<string, unknown>>): boolean => {
    const values = keyColumns.map(column => row[column])
    if (values.every(value => value == null) || (allRequired && values.some(value => value == null))) return false
    const key = hash(values.join('\0'))
    const content = hash(JSON.stringify(row))
    const earlier = contents.get(key)
    if (earlier !== undefined || contents.size < maxKeys) contents.set(key, content)
    return earlier !== undefined && earlier !== content
  }
}

/** Returns a 53-bit hash of a text (cyrb53). */
function hash(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return 4294967296 * (2097151 & b) + (a >>> 0)
}
