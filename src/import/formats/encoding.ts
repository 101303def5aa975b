import { isAscii, isUtf8 } from 'node:buffer'
import { ImportError } from '../pipeline/import-error.ts'
import { type Confidence, computeWindows1252Confidence, findCodePages } from './code-pages.ts'
import { rejectedColumns } from './header.ts'

/** The number of bytes from which the format of a file is detected. */
const headBytes = 64

interface EncodingOptions {
  /** The name of the file in messages. */
  name: string
  /** Undefined: the encoding is guessed from the bytes. */
  encoding: string | undefined
  /** JSON must be in UTF-8 or UTF-16 (RFC 8259). */
  isJson: boolean
  /** Receives the guessed encoding. */
  onRemark(text: string): void
  /** Called if the file is decoded as Windows-1252 because it is not in UTF-8. */
  onGuess?: (confidence: Confidence) => void
  /** True if messages may contain words of the file. */
  quotesContent?: boolean
}

interface Utf8Stream {
  chunks: AsyncIterable<Buffer>
  /** True for a `.rejected.csv`, which always has UTF-8 and commas. The format options describe the original file. */
  isRejectedFile: boolean
}

const utf8ByteOrderMark = '\xef\xbb\xbf'

/** The first bytes of files that are not text, with the remedy. */
const otherFormats = [
  [
    'PAR1',
    "a Parquet file. Convert it to CSV first, for example with DuckDB: copy (from 'sales.parquet') to 'sales.csv'.",
  ],
  ['PK\x03\x04', 'a workbook or an archive. Unpack it, or save its sheet as CSV.'],
] as const

/** True if the label is an encoding of the Encoding Standard that can be decoded. */
export function isEncoding(label: string) {
  try {
    return Boolean(new TextDecoder(label))
  } catch {
    return false
  }
}

/** Converts the bytes of a file to UTF-8. Throws `ImportError` if the file is not text. */
export async function toUtf8(chunks: AsyncIterable<Buffer>, options: EncodingOptions): Promise<Utf8Stream> {
  const iterator = chunks[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < headBytes) {
    const { value, done } = await iterator.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  const readAll = async function* () {
    if (head.length) yield head
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  const beginning = head.toString('latin1')
  const otherFormat = otherFormats.find(([signature]) => beginning.startsWith(signature))
  if (otherFormat) throw new ImportError(`${options.name} is ${otherFormat[1]}`)
  const isRejectedFile = new RegExp(`^(${utf8ByteOrderMark})?${rejectedColumns.join(',')}[,\r\n]`).test(beginning)
  // A byte order mark outranks the option: a spreadsheet may have saved the file again.
  if (isRejectedFile || beginning.startsWith(utf8ByteOrderMark)) return { chunks: readAll(), isRejectedFile }
  return { chunks: decode(readAll(), head, options), isRejectedFile }
}

function decode(chunks: AsyncIterable<Buffer>, head: Buffer, options: EncodingOptions) {
  const { name, isJson, onRemark } = options
  const utf16 = detectUtf16(head)
  const encoding = options.encoding && new TextDecoder(options.encoding).encoding
  if (utf16 && (encoding === undefined || encoding.startsWith('utf-16'))) {
    if (encoding === undefined) onRemark(`${name} is read as UTF-16.`)
    return transcode(chunks, utf16, name)
  }
  if (encoding === undefined && !isJson) return decodeByGuess(chunks, options)
  return encoding === undefined || encoding === 'utf-8' ? chunks : transcode(chunks, encoding, name)
}

/** Detects UTF-16 by its byte order mark, or because every second byte is a zero, as in a header of Latin letters. */
function detectUtf16(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const countZeros = (from: number) => head.filter((byte, at) => at % 2 === from && byte === 0).length
  const characters = Math.floor(head.length / 2)
  if (characters < 4) return
  return countZeros(1) > characters * 0.8 ? 'utf-16le' : countZeros(0) > characters * 0.8 ? 'utf-16be' : undefined
}

async function* transcode(chunks: AsyncIterable<Buffer>, encoding: string, name: string) {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const read = (...input: Parameters<typeof decoder.decode>) => {
    try {
      return Buffer.from(decoder.decode(...input))
    } catch {
      throw new ImportError(`${name} is not valid ${encoding}. Set its encoding with --encoding.`)
    }
  }
  for await (const chunk of chunks) yield read(chunk, { stream: true })
  yield read()
}

/** Bytes from the first one beyond ASCII that decide the encoding. */
const sampleBytes = 64 * 1024

/**
 * Yields the file as UTF-8. If most bytes beyond ASCII aren't UTF-8, the file is decoded as Windows-1252. Throws `ImportError` if its words
 * are not plausible in Windows-1252, or if UTF-8 follows.
 */
async function* decodeByGuess(chunks: AsyncIterable<Buffer>, options: EncodingOptions) {
  const { name } = options
  let decodeChunk: ((bytes: Buffer) => Buffer) | undefined
  let sample = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (decodeChunk) yield decodeChunk(chunk)
    else if (!sample.length && isAscii(chunk)) yield chunk
    else {
      sample = Buffer.concat([sample, chunk])
      if (sample.length < sampleBytes) continue
      const cut = countIncompleteBytes(sample)
      decodeChunk = chooseDecoder(sample.subarray(0, sample.length - cut))
      yield decodeChunk(sample)
    }
  }
  if (!decodeChunk && sample.length) yield chooseDecoder(sample)(sample)

  function chooseDecoder(text: Buffer): (bytes: Buffer) => Buffer {
    if (isUtf8(text) || isMostlyUtf8(text)) return bytes => bytes
    const confidence = computeWindows1252Confidence(text)
    if (!confidence) throw createEncodingError(text, options)
    options.onGuess?.(confidence)
    const decoder = new TextDecoder('windows-1252')
    return bytes => {
      if (bytes !== sample && utf8Sequence.test(bytes.toString('latin1')))
        throw new ImportError(
          `${name} begins as Windows-1252 and continues as UTF-8. Use --encoding windows-1252 or --encoding utf-8.`,
        )
      return Buffer.from(decoder.decode(bytes))
    }
  }
}

/** True if most bytes beyond ASCII are characters of UTF-8. Other lines are then rejected individually. */
function isMostlyUtf8(text: Buffer) {
  const characters = text.toString('latin1')
  const inSequences = characters.match(new RegExp(utf8Sequence, 'g'))?.join('').length ?? 0
  return inSequences * 2 > characters.replace(/\p{ASCII}+/gu, '').length
}

/** The words of the file are quoted for the person who imports it, but not stored with the run. */
function createEncodingError(text: Buffer, { name, quotesContent }: EncodingOptions) {
  const problem = `${name} is not UTF-8, and its words are not plausible in Windows-1252.`
  const pages = findCodePages(text)
  if (!pages.length) return new ImportError(`${problem} Save it as UTF-8, or name its encoding with --encoding.`)
  const list = (quoted: boolean) =>
    `${problem} Name its encoding with --encoding. Candidates: ${pages.map(({ label, example }) => (quoted ? `${label} (${example})` : label)).join(', ')}.`
  return new ImportError(list(quotesContent ?? false), list(false))
}

/** A character beyond ASCII in UTF-8, its bytes read as Latin-1 characters. */
const utf8Sequence =
  /[\u00c2-\u00df][\u0080-\u00bf]|[\u00e0-\u00ef][\u0080-\u00bf]{2}|[\u00f0-\u00f4][\u0080-\u00bf]{3}/

/** Returns the number of bytes at the end that may begin a character of the next chunk. */
function countIncompleteBytes(chunk: Buffer) {
  for (let back = 1; back <= Math.min(3, chunk.length); back++)
    if ((chunk[chunk.length - back] ?? 0) >= 0xc0) return back
  return 0
}
