import { setImmediate } from 'node:timers/promises'
import { ImportError } from '../pipeline/import-error.ts'
import { RowError } from '../pipeline/row-error.ts'

/** Longer lines are rejected, which limits the memory of an import. */
export const maxLineBytes = 1024 * 1024

/** The extent of a line in its block, without its line end. */
export interface LineExtent {
  /** The line number in the file, from 1. */
  number: number
  start: number
  end: number
  /** Set if the line can't be parsed. */
  unreadable?: RowError
}

/** A part of a file that ends at the end of a line. */
export interface Block {
  bytes: Buffer
  lines: LineExtent[]
  /** True if only line ends are between the lines. */
  isContiguous: boolean
}

/** Cutting a block of this many lines takes a few milliseconds. */
const maxBlockLines = 5_000

const LF = 10
const CR = 13
const QUOTE = 34

const lineTooLong = new RowError('The line must have at most 1 MiB.')
const unclosedQuote = new RowError('A quotation mark in this line is not closed. Close it at the end of its cell.')

/**
 * The place of a line end. `more`: it isn't in the bytes. `inside quotes`: the bytes end in a quoted cell. `broken`: a quotation mark isn't
 * closed.
 */
type LineEnd = number | 'more' | 'inside quotes' | 'broken'

/** Finds the line end of the line at `start`, outside quotes. Only quotes at the beginning of a cell count (RFC 4180). */
function findQuotedLineEnd(bytes: Buffer, start: number, delimiter: number): LineEnd {
  let at = start
  for (;;) {
    if (bytes[at] === QUOTE) {
      const opened = at++
      for (;;) {
        at = bytes.indexOf(QUOTE, at)
        if (at < 0) return 'inside quotes'
        if (bytes[at + 1] !== QUOTE) break
        at += 2
      }
      const next = bytes[++at]
      const clean = next === undefined || next === delimiter || next === LF || next === CR
      // An unclosed quotation mark seems to be closed by the next one, several lines later. The character after it reveals the error.
      if (!clean && bytes.subarray(opened, at).includes(LF)) return 'broken'
    }
    while (at < bytes.length && bytes[at] !== delimiter && bytes[at] !== LF) at++
    if (at >= bytes.length) return 'more'
    if (bytes[at] === LF) return at
    at++
  }
}

/** Splits a stream of bytes into blocks of lines. With a delimiter (one ASCII character), line ends within quotes are part of the line. */
export async function* splitIntoBlocks(
  chunks: AsyncIterable<Buffer>,
  cells?: { delimiter: string },
): AsyncGenerator<Block> {
  const quoted = cells !== undefined
  const delimiter = cells?.delimiter.charCodeAt(0) ?? 0
  let remainder: Buffer = Buffer.alloc(0)
  let number = 1
  let isAtStart = true
  /** True within a line that is too long, whose remainder is dropped. */
  let skipping = false

  /** Cuts a block of complete lines from bytes, and keeps the bytes after it in `remainder`. `last`: no bytes follow. */
  function cut(bytes: Buffer, last: boolean): Block & { hasMore: boolean } {
    const lines: LineExtent[] = []
    let isContiguous = true
    let start = 0
    let nextQuote = -1
    const addLine = (end: number, unreadable?: RowError) => {
      const trimmed = bytes[end - 1] === CR && end > start ? end - 1 : end
      if (unreadable) isContiguous = false
      if (trimmed > start) lines.push({ number, start, end: trimmed, ...(unreadable && { unreadable }) })
    }
    /** Returns the end of the line at `start`. `newline`: the next line feed, or -1. */
    const findLineEnd = (newline: number): LineEnd => {
      if (quoted && nextQuote < start) nextQuote = bytes.indexOf(QUOTE, start)
      if (quoted && nextQuote < 0) nextQuote = Infinity
      if (quoted && nextQuote < (newline < 0 ? bytes.length : newline))
        return findQuotedLineEnd(bytes, start, delimiter)
      return newline < 0 ? 'more' : newline
    }
    while (start < bytes.length) {
      if (lines.length >= maxBlockLines) return { ...keep(start), hasMore: true }
      const newline = bytes.indexOf(LF, start)
      if (skipping) {
        if (newline < 0) break
        skipping = false
        isContiguous = false
        number++
        start = newline + 1
        continue
      }
      let end = findLineEnd(newline)
      const isIncomplete = end === 'more' || end === 'inside quotes'
      if (isIncomplete && !last && bytes.length - start <= maxLineBytes) return keep(start)
      if (end === 'more' && last) end = bytes.length
      if (typeof end === 'number' && end - start <= maxLineBytes) {
        addLine(end)
        number++
        if (newline !== end) for (let at = newline; at >= 0 && at < end; at = bytes.indexOf(LF, at + 1)) number++
        start = end + 1
      } else if (newline >= 0) {
        // Rejects only up to this line end, because a valid line can follow.
        addLine(newline, newline - start > maxLineBytes ? lineTooLong : unclosedQuote)
        number++
        start = newline + 1
      } else {
        addLine(bytes.length, bytes.length - start > maxLineBytes ? lineTooLong : unclosedQuote)
        skipping = true
        start = bytes.length
      }
    }
    return keep(bytes.length)

    function keep(from: number) {
      remainder = Buffer.from(bytes.subarray(from))
      return { bytes, lines, isContiguous, hasMore: false }
    }
  }

  for await (const chunk of chunks) {
    const bytes = remainder.length ? Buffer.concat([remainder, chunk]) : chunk
    if (isAtStart && bytes.length < 3) {
      remainder = bytes
      continue
    }
    let block = cut(isAtStart ? removeByteOrderMark(bytes) : bytes, false)
    isAtStart = false
    if (block.lines.length) yield block
    else await setImmediate()
    while (block.hasMore) {
      block = cut(remainder, false)
      if (block.lines.length) yield block
    }
  }
  let block = cut(isAtStart ? removeByteOrderMark(remainder) : remainder, true)
  if (block.lines.length) yield block
  while (block.hasMore) {
    block = cut(remainder, true)
    if (block.lines.length) yield block
  }
}

/** Removes the byte order mark of UTF-8. Throws `ImportError` if the file is in UTF-16. */
function removeByteOrderMark(bytes: Buffer) {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    throw new ImportError('The file is in UTF-16. Use --encoding utf-16, or save it as UTF-8.')
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}
