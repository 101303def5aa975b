import { setImmediate } from 'node:timers/promises'
import { ImportError } from '../pipeline/import-error.ts'
import { RowError } from '../pipeline/row-error.ts'

/** A line longer than this is rejected, so that memory stays bounded whatever the file holds. */
export const maxLineBytes = 1024 * 1024

/** Where a line stands in the bytes of its block, without its line end; `unreadable` says why it cannot be read. */
export interface Extent {
  /** Where it begins in the file, counted from 1. */
  number: number
  start: number
  end: number
  unreadable?: RowError
}

/** A piece of a file that ends where a line does. */
export interface Block {
  bytes: Buffer
  lines: Extent[]
  /** The lines follow each other with nothing but line ends between them. */
  whole: boolean
}

/** Blocks have at most this many lines, so that cutting one takes a few milliseconds. */
const maxBlockLines = 5_000

const LF = 10
const CR = 13
const QUOTE = 34

const giant = new RowError('The line is longer than 1 MiB.')
const unclosed = new RowError('A quotation mark that is opened in this line is not closed where the cell ends.')

type Found = number | 'more' | 'inside quotes' | 'broken'

/** Finds the line end that closes the line at `start`, where it is not within quotes. Quotes count where a cell begins only (RFC 4180). */
function endOfQuoted(bytes: Buffer, start: number, delimiter: number): Found {
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
      // A forgotten quotation mark seems to end at the next one, lines later: only what follows gives it away.
      if (!clean && bytes.subarray(opened, at).includes(LF)) return 'broken'
    }
    while (at < bytes.length && bytes[at] !== delimiter && bytes[at] !== LF) at++
    if (at >= bytes.length) return 'more'
    if (bytes[at] === LF) return at
    at++
  }
}

/** Cuts a stream of bytes into lines. Where cells have a delimiter, one ASCII character, a line goes on where its end is within quotes. */
export async function* blocksOf(chunks: AsyncIterable<Buffer>, cells?: { delimiter: string }): AsyncGenerator<Block> {
  const quoted = cells !== undefined
  const delimiter = cells?.delimiter.charCodeAt(0) ?? 0
  let rest: Buffer = Buffer.alloc(0)
  let number = 1
  let atStart = true
  /** In the middle of a giant line, whose remainder is thrown away. */
  let skipping = false

  function cut(bytes: Buffer, last: boolean): Block & { hasMore: boolean } {
    const lines: Extent[] = []
    let whole = true
    let start = 0
    let nextQuote = -1
    const add = (end: number, unreadable?: RowError) => {
      const trimmed = bytes[end - 1] === CR && end > start ? end - 1 : end
      if (unreadable) whole = false
      if (trimmed > start) lines.push({ number, start, end: trimmed, ...(unreadable && { unreadable }) })
    }
    const find = (newline: number): Found => {
      if (quoted && nextQuote < start) nextQuote = bytes.indexOf(QUOTE, start)
      if (quoted && nextQuote < 0) nextQuote = Infinity
      if (quoted && nextQuote < (newline < 0 ? bytes.length : newline)) return endOfQuoted(bytes, start, delimiter)
      return newline < 0 ? 'more' : newline
    }
    while (start < bytes.length) {
      if (lines.length >= maxBlockLines) return { ...keep(start), hasMore: true }
      const newline = bytes.indexOf(LF, start)
      if (skipping) {
        if (newline < 0) break
        skipping = false
        whole = false
        number++
        start = newline + 1
        continue
      }
      let end = find(newline)
      const waiting = end === 'more' || end === 'inside quotes'
      if (waiting && !last && bytes.length - start <= maxLineBytes) return keep(start)
      if (end === 'more' && last) end = bytes.length
      if (typeof end === 'number' && end - start <= maxLineBytes) {
        add(end)
        number++
        if (newline !== end) for (let at = newline; at >= 0 && at < end; at = bytes.indexOf(LF, at + 1)) number++
        start = end + 1
      } else if (newline >= 0) {
        // Only up to this line end: what follows may be a line of its own.
        add(newline, newline - start > maxLineBytes ? giant : unclosed)
        number++
        start = newline + 1
      } else {
        add(bytes.length, bytes.length - start > maxLineBytes ? giant : unclosed)
        skipping = true
        start = bytes.length
      }
    }
    return keep(bytes.length)

    function keep(from: number) {
      rest = Buffer.from(bytes.subarray(from))
      return { bytes, lines, whole, hasMore: false }
    }
  }

  for await (const chunk of chunks) {
    const bytes = rest.length ? Buffer.concat([rest, chunk]) : chunk
    if (atStart && bytes.length < 3) {
      rest = bytes
      continue
    }
    let block = cut(atStart ? withoutMark(bytes) : bytes, false)
    atStart = false
    if (block.lines.length) yield block
    else await setImmediate()
    while (block.hasMore) {
      block = cut(rest, false)
      if (block.lines.length) yield block
    }
  }
  let block = cut(atStart ? withoutMark(rest) : rest, true)
  if (block.lines.length) yield block
  while (block.hasMore) {
    block = cut(rest, true)
    if (block.lines.length) yield block
  }
}

/** Drops the byte order mark of UTF-8. */
function withoutMark(bytes: Buffer) {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    throw new ImportError('The file is in UTF-16: --encoding utf-16, or save it as UTF-8.')
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}
