import { isAscii, isUtf8 } from 'node:buffer'
import { ImportError } from '../pipeline/import-error.ts'
import { rejectedColumns } from './header.ts'

/** So much of a file is looked at before it is judged by its first bytes. */
const headBytes = 64

interface Encoded {
  /** What messages call the file. */
  name: string
  /** What somebody says that it is; undefined: its bytes tell. */
  encoding: string | undefined
  /** JSON is in UTF-8, if not in UTF-16 (RFC 8259): nothing else is guessed. */
  isJson: boolean
  /** Hears what it was taken for, where nobody has said. */
  onRemark(text: string): void
}

/** A file's bytes as UTF-8. */
interface Utf8 {
  chunks: AsyncIterable<Buffer>
  /** It is a `.rejected.csv` as we write them, in UTF-8 and with commas, whatever is said of the file that it was made of. */
  isOurs: boolean
}

/** What UTF-8 may begin with, and text in anything else does not. */
const utf8Mark = '\xef\xbb\xbf'

/** What begins like that is no text, and how to make text of it. */
const otherFormats = [
  ['PAR1', "a Parquet file: write it as CSV first, such as with DuckDB: copy (from 'sales.parquet') to 'sales.csv'."],
  ['PK\x03\x04', 'a workbook or an archive: unpack it, or save its sheet as CSV.'],
] as const

/** Whether a label is of an encoding that we read. */
export function isEncoding(label: string) {
  try {
    return Boolean(new TextDecoder(label))
  } catch {
    return false
  }
}

/** The bytes of a file as UTF-8, whatever they were. */
export async function asUtf8(chunks: AsyncIterable<Buffer>, encoded: Encoded): Promise<Utf8> {
  const coming = chunks[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < headBytes) {
    const { value, done } = await coming.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  const all = async function* () {
    if (head.length) yield head
    yield* { [Symbol.asyncIterator]: () => coming }
  }
  const begins = head.toString('latin1')
  const other = otherFormats.find(([mark]) => begins.startsWith(mark))
  if (other) throw new ImportError(`${encoded.name} is ${other[1]}`)
  const isOurs = new RegExp(`^(${utf8Mark})?${rejectedColumns.join(',')}[,\r\n]`).test(begins)
  // A spreadsheet that saves as UTF-8 says so, whatever is said of the file that this was made of.
  if (isOurs || begins.startsWith(utf8Mark)) return { chunks: all(), isOurs }
  return { chunks: decoded(all(), head, encoded), isOurs }
}

function decoded(chunks: AsyncIterable<Buffer>, head: Buffer, encoded: Encoded) {
  const { name, encoding, isJson, onRemark } = encoded
  const wide = wideIn(head)
  const told = encoding && new TextDecoder(encoding).encoding
  if (wide && (told === undefined || told.startsWith('utf-16'))) {
    if (told === undefined) onRemark(`${name} is in UTF-16, and is read as that.`)
    return transcoded(chunks, wide, name)
  }
  if (told === undefined && !isJson) return asTheBytesSay(chunks, encoded)
  return told === undefined || told === 'utf-8' ? chunks : transcoded(chunks, told, name)
}

/** Which UTF-16 it is: by its mark, or because every second byte is a zero, as in a header of Latin letters. */
function wideIn(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const zeros = (from: number) => head.filter((byte, at) => at % 2 === from && byte === 0).length
  const most = Math.floor(head.length / 2)
  if (most < 4) return
  return zeros(1) > most * 0.8 ? 'utf-16le' : zeros(0) > most * 0.8 ? 'utf-16be' : undefined
}

async function* transcoded(chunks: AsyncIterable<Buffer>, encoding: string, name: string) {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const read = (...given: Parameters<typeof decoder.decode>) => {
    try {
      return Buffer.from(decoder.decode(...given))
    } catch {
      throw new ImportError(`${name} is not in ${encoding}: say what it is with --encoding.`)
    }
  }
  for await (const chunk of chunks) yield read(chunk, { stream: true })
  yield read()
}

/**
 * UTF-8, unless the first bytes beyond ASCII are none: then Windows-1252. Text of both in one file is nothing that can be guessed, and
 * stops it.
 */
async function* asTheBytesSay(chunks: AsyncIterable<Buffer>, { name, onRemark }: Encoded) {
  let decoder: TextDecoder | undefined
  let isUtf = false
  let cut = Buffer.alloc(0)
  const asWindows = () => {
    onRemark(`${name} is no UTF-8: it is read as Windows-1252 (--encoding says otherwise).`)
    return new TextDecoder('windows-1252')
  }
  for await (const some of chunks) {
    if (isUtf) {
      yield some
      continue
    }
    const chunk = cut.length ? Buffer.concat([cut, some]) : some
    const multiByte = !isAscii(chunk) && sequence.test(chunk.toString('latin1'))
    if (decoder && multiByte)
      throw new ImportError(
        `${name} seemed to be in Windows-1252, and goes on as UTF-8: say which it is, --encoding windows-1252 or --encoding utf-8.`,
      )
    isUtf ||= multiByte
    cut = isUtf || decoder ? Buffer.alloc(0) : Buffer.from(chunk.subarray(chunk.length - cutAtEnd(chunk)))
    const whole = chunk.subarray(0, chunk.length - cut.length)
    if (!isUtf && !decoder && !isUtf8(whole)) decoder = asWindows()
    yield decoder ? Buffer.from(decoder.decode(whole)) : whole
  }
  // No character went on from there.
  if (cut.length) yield Buffer.from((decoder ?? asWindows()).decode(cut))
}

/** A character beyond ASCII as UTF-8 has it, in bytes that are read as characters. */
const sequence = /[\u00c2-\u00df][\u0080-\u00bf]|[\u00e0-\u00ef][\u0080-\u00bf]{2}|[\u00f0-\u00f4][\u0080-\u00bf]{3}/

/** How many bytes at the end are the beginning of a character that may go on in the next chunk. */
function cutAtEnd(chunk: Buffer) {
  for (let back = 1; back <= Math.min(3, chunk.length); back++)
    if ((chunk[chunk.length - back] ?? 0) >= 0xc0) return back
  return 0
}
